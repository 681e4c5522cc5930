# SPDX-License-Identifier: MIT
# make [O=DIR] [V=1] [CC=…] [CFLAGS=…]; `make help` lists the targets.

SRC := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
O ?= build
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
DATADIR ?= $(PREFIX)/share
BASHCOMPDIR ?= $(DATADIR)/bash-completion/completions
DOCDIR ?= $(DATADIR)/doc/rdmadiag
ZSHCOMPDIR ?= $(DATADIR)/zsh/site-functions

# Lists of names end at blanks: "make clean O='a b'" would remove a and b.
$(foreach name,CURDIR O DESTDIR PREFIX BINDIR MANDIR DATADIR BASHCOMPDIR DOCDIR ZSHCOMPDIR,$(if $(word 2,$($(name))),\
	$(error $(name) is "$($(name))": make takes no names with blanks)))
# The shell of a recipe would take them apart.
$(foreach name,CURDIR O DESTDIR PREFIX BINDIR MANDIR DATADIR BASHCOMPDIR DOCDIR ZSHCOMPDIR,$(foreach sign,' " ` ; &,\
	$(if $(findstring $(sign),$($(name))),$(error $(name) is $($(name)): make takes no names with $(sign)))))
$(if $(wildcard $(SRC)/VERSION),,$(error the sources are not in "$(SRC)": make takes no names with blanks))

ifeq ($(origin CC),default)
CC := gcc
endif
CFLAGS ?= -O2 -g
INSTALL ?= install
VERSION := $(shell cat $(SRC)/VERSION)
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),@:,@printf '  %-7s %s\n')

PACKAGES := libibverbs libmlx5 librdmacm libmnl hwloc smartcols libarchive json-c
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2

# The set-up runs before anything asks pkg-config, for every target that compiles.
NO_BUILD := clean distclean format help install-packages uninstall
GOALS := $(or $(MAKECMDGOALS),all)
ifneq ($(filter-out $(NO_BUILD),$(GOALS)),)
ifeq ($(MAKELEVEL),0)
SETUP_STATUS := $(shell $(SRC)/tools/setup build 1>&2; echo $$?)
ifneq ($(SETUP_STATUS),0)
$(error the set-up is not complete, see above)
endif
endif
PKG_CFLAGS := $(shell pkg-config --cflags $(PACKAGES))
PKG_LIBS := $(shell pkg-config --libs $(PACKAGES)) -lnuma
endif

ALL_CPPFLAGS = -D_GNU_SOURCE -DRDMADIAG_VERSION='"$(VERSION)"' -I$(SRC)/lib -I$(SRC)/cmd $(PKG_CFLAGS) $(CPPFLAGS)
# Nothing asks for errno of a square root: without it nothing needs libm where processors have one.
ALL_CFLAGS = -std=gnu17 -fno-strict-aliasing -fno-math-errno -pthread $(WARNINGS) $(CFLAGS)
# Libraries in lib/late/ are loaded when they are needed.
ALL_LIBS = $(LDFLAGS) -Wl,--dynamic-list=$(SRC)/lib/late/exported.list -Wl,--as-needed $(PKG_LIBS) -pthread -ldl -lm $(LIBS)

LIB_SOURCES := $(sort $(wildcard $(SRC)/lib/*/*.c))
CMD_SOURCES := $(sort $(wildcard $(SRC)/cmd/*.c))
UNIT_SOURCES := $(sort $(wildcard $(SRC)/tests/unit/test_*.c))
object = $(patsubst $(SRC)/%.c,$(O)/obj/%.o,$(1))
LIB_OBJECTS := $(call object,$(LIB_SOURCES))
CMD_OBJECTS := $(call object,$(CMD_SOURCES))
UNIT_PROGRAMS := $(patsubst $(SRC)/tests/unit/%.c,$(O)/tests/%,$(UNIT_SOURCES))

.PHONY: all
all: $(O)/rdmadiag

$(O)/rdmadiag: $(CMD_OBJECTS) $(EXTRA_OBJECTS) $(O)/librdmadiag.a $(O)/obj/cmd.list
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(filter-out %.list,$^) $(ALL_LIBS)

$(O)/librdmadiag.a: $(LIB_OBJECTS) $(O)/obj/lib.list
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $(LIB_OBJECTS)

# Objects are made again when compiler or flags change, the archive and the program when the list of objects does.
# $(1): what the file holds.
remember = mkdir -p $(@D) && printf '%s\n' '$(1)' | cmp -s - $@ || printf '%s\n' '$(1)' > $@
$(O)/obj/flags: FORCE
	@$(call remember,$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS))
$(O)/obj/lib.list: FORCE
	@$(call remember,$(LIB_OBJECTS))
$(O)/obj/cmd.list: FORCE
	@$(call remember,$(CMD_OBJECTS))

$(O)/obj/%.o: $(SRC)/%.c $(O)/obj/flags
	@mkdir -p $(@D)
	$(say) CC $(patsubst $(SRC)/%,%,$<)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

-include $(LIB_OBJECTS:.o=.d) $(CMD_OBJECTS:.o=.d) $(patsubst $(SRC)/%.c,$(O)/obj/%.d,$(UNIT_SOURCES))

# ---- tests ----

$(O)/tests/%: $(O)/obj/tests/unit/%.o $(EXTRA_OBJECTS) $(O)/librdmadiag.a
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ -lcmocka $(ALL_LIBS)

.PHONY: setup-check unit-programs check check-long check-unit check-machines check-guest check-mlx5
setup-check:
	$(Q)$(SRC)/tools/setup build check guest

unit-programs: $(UNIT_PROGRAMS)
.SECONDARY: $(patsubst $(SRC)/%.c,$(O)/obj/%.o,$(UNIT_SOURCES))

RUN_TESTS = RDMADIAG=$(abspath $(O))/rdmadiag O=$(abspath $(O)) $(SRC)/tests/run-tests
CLI_TESTS := $(sort $(wildcard $(SRC)/tests/cli/test-*))
MACHINE_TESTS := $(sort $(wildcard $(SRC)/tests/machines/test-*))
MLX5_TESTS := $(sort $(wildcard $(SRC)/tests/mlx5emu/test-*.sh))
# The longest first: files run side by side.
GUEST_TESTS := $(addprefix $(SRC)/tests/guest/test-,two.sh one.sh)
GUEST_TESTS += $(filter-out $(GUEST_TESTS) %/test-long-one.sh %/test-long-two.sh,$(sort $(wildcard $(SRC)/tests/guest/test-*.sh)))
# What repeats the main tests with many devices, many kinds of trouble or many tries.
LONG_TESTS := $(addprefix $(SRC)/tests/,guest/test-long-two.sh guest/test-long-one.sh guest/test-extra.sh mlx5emu/test-hostile.sh mlx5emu/test-clean.sh \
	mlx5emu/test-campaign.sh mlx5emu/test-drills.sh mlx5emu/test-tools.sh machines/test-report machines/test-scale cli/test-hostile)
SHORT = $(filter-out $(LONG_TESTS),$(1))

# Unit tests, command line, described machines, the software mlx5 device, and live ones in the guest.
check: setup-check
	$(Q)$(MAKE) --no-print-directory all unit-programs
	$(Q)$(RUN_TESTS) $(call SHORT,$(GUEST_TESTS) $(MLX5_TESTS) $(UNIT_PROGRAMS) $(CLI_TESTS) $(MACHINE_TESTS))

check-long: setup-check all
	$(Q)$(RUN_TESTS) -T 2400 $(LONG_TESTS)

check-unit: setup-check all unit-programs
	$(Q)$(RUN_TESTS) $(UNIT_PROGRAMS) $(CLI_TESTS)
check-machines: setup-check all
	$(Q)$(RUN_TESTS) $(MACHINE_TESTS)
check-mlx5: setup-check all
	$(Q)$(RUN_TESTS) $(MLX5_TESTS)
check-guest: setup-check all
	$(Q)$(RUN_TESTS) $(GUEST_TESTS)

# The same unit, command line and machine tests in a build with sanitizers.
SANITIZE := -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer
.PHONY: asan
asan: setup-check
	$(Q)$(MAKE) --no-print-directory O=$(O)/asan CFLAGS='-O1 -g $(SANITIZE)' all unit-programs
	$(Q)$(MAKE) --no-print-directory O=$(O)/asan CFLAGS='-O1 -g $(SANITIZE)' run-asan
.PHONY: run-asan
run-asan:
	$(Q)RDMADIAG_SANITIZED=1 $(RUN_TESTS) $(UNIT_PROGRAMS) $(CLI_TESTS) $(MACHINE_TESTS)

# The same with the thread sanitizer. It knows the usual places of memory only, so they are not chosen by chance. A worker
# that has nothing to show leaves while libibverbs may still be listing devices: that thread is no leak. The software
# device lives in programs without the sanitizer too, so these flags are not for it.
.PHONY: tsan run-tsan
tsan: setup-check
	$(Q)$(MAKE) --no-print-directory O=$(O)/tsan CFLAGS='-O1 -g -fsanitize=thread -fno-omit-frame-pointer' all unit-programs
	$(Q)setarch -R $(MAKE) --no-print-directory O=$(O)/tsan CFLAGS='-O1 -g -fsanitize=thread -fno-omit-frame-pointer' run-tsan
run-tsan:
	$(Q)env -u CFLAGS -u MAKEFLAGS RDMADIAG_SANITIZED=1 TSAN_OPTIONS=halt_on_error=1:exitcode=66:die_after_fork=0:report_thread_leaks=0:suppressions=$(abspath $(SRC))/tests/tsan.supp \
		$(RUN_TESTS) $(call SHORT,$(UNIT_PROGRAMS) $(MLX5_TESTS) $(CLI_TESTS) $(MACHINE_TESTS))

# Unit tests, short ones of the command line, some described machines and probes on the software mlx5 device.
VALGRIND_MACHINES := several-surprises qos-and-wire hgx-eight-gpus many-vendors blocked-device
VALGRIND_CLI := $(addprefix $(SRC)/tests/cli/test-,usage.sh capture.sh compare.sh explain.sh check.sh)
.PHONY: valgrind
valgrind: setup-check
	$(Q)$(MAKE) --no-print-directory all unit-programs
	$(Q)$(SRC)/tests/valgrind $(O) $(addprefix -m ,$(VALGRIND_MACHINES)) $(abspath $(UNIT_PROGRAMS)) $(VALGRIND_CLI)
	$(Q)$(MAKE) --no-print-directory -s -C $(SRC)/tests/mlx5emu O=$(abspath $(O))/mlx5emu CC="$(CC)" all
	$(Q)RDMADIAG=$(abspath $(O))/rdmadiag MLX5EMU_BUILD=$(abspath $(O))/mlx5emu $(SRC)/tests/mlx5emu/campaign --runs 10 --seed $(SEED) --valgrind

# ---- one failing call at a time, in a build with sanitizers: make inject [INJECT_SAMPLE=places, 0 for all] ----

INJECT_SAMPLE ?= 100
INJECT_MAKE = $(MAKE) --no-print-directory O=$(O)/inject CFLAGS='-O1 -g $(SANITIZE)'
.PHONY: inject
inject: setup-check
	$(Q)$(INJECT_MAKE) $(O)/inject/wrap.flags
	$(Q)$(INJECT_MAKE) LDFLAGS=@$(O)/inject/wrap.flags EXTRA_OBJECTS=$(O)/inject/obj/tests/inject/wrap.o all
	$(Q)$(MAKE) --no-print-directory -s -C $(SRC)/tests/mlx5emu O=$(abspath $(O))/mlx5emu CC="$(CC)" all
	$(Q)RDMADIAG=$(abspath $(O))/inject/rdmadiag MLX5EMU_BUILD=$(abspath $(O))/mlx5emu INJECT_SAMPLE=$(INJECT_SAMPLE) O=$(abspath $(O)) $(SRC)/tests/run-tests -T 3600 $(SRC)/tests/inject/test-inject
# what wrap.c defines is what the linker is told to wrap
$(O)/wrap.flags: $(O)/obj/tests/inject/wrap.o $(SRC)/Makefile
	$(Q)nm $< | sed -n 's/.* T __wrap_/-Wl,--wrap=/p' >$@

# ---- lines of lib/ that the tests come by: make coverage, with those in the guest GUEST=yes ----

COVERAGE_MAKE = $(MAKE) --no-print-directory O=$(O)/coverage CFLAGS='-O0 -g --coverage' LDFLAGS=-Wl,--wrap=_exit
COVERAGE_EXIT = $(O)/coverage/obj/tests/coverage/exit.o
.PHONY: coverage run-coverage run-coverage-guest
coverage: setup-check
	$(Q)rm -rf $(O)/coverage/obj/*/*/*.gcda $(O)/coverage/counts
	$(Q)mkdir -p $(O)/coverage/counts
	$(Q)$(COVERAGE_MAKE) EXTRA_OBJECTS=$(COVERAGE_EXIT) all unit-programs
	$(Q)$(COVERAGE_MAKE) run-coverage
	$(Q)[ "$(GUEST)" != yes ] || $(COVERAGE_MAKE) run-coverage-guest
	$(Q)$(SRC)/tools/coverage $(O)/coverage/obj $$(find $(O)/coverage/counts -name '*.tar')
# A process that is killed while it adds its counts spoils a file of them, and libgcov would tell all that come after.
run-coverage:
	-$(Q)GCOV_ERROR_FILE=$(abspath $(O))/counts/spoilt $(RUN_TESTS) -j1 $(MLX5_TESTS) $(UNIT_PROGRAMS) $(CLI_TESTS) $(MACHINE_TESTS)
run-coverage-guest:
	-$(Q)COUNTS=$(abspath $(O))/counts $(RUN_TESTS) -T 2400 $(GUEST_TESTS) $(filter %-one.sh %-two.sh,$(LONG_TESTS))

# ---- demo ----

.PHONY: demo
demo: all
	$(Q)RDMADIAG=$(abspath $(O))/rdmadiag $(SRC)/tests/guest/demo

# ---- fuzzers: make fuzz T=60, seconds each (libFuzzer, clang) ----

T ?= 60
FUZZERS := $(patsubst $(SRC)/tests/fuzz/fuzz_%.c,%,$(sort $(wildcard $(SRC)/tests/fuzz/fuzz_*.c)))
FUZZ_FLAGS := -O1 -g -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow -fno-sanitize-recover=all
FUZZ_MACHINE := several-surprises
FUZZ_WIRE := qos-and-wire
FUZZ_NAMES := names-people-type
.PHONY: fuzz
fuzz: setup-fuzz
	$(Q)$(MAKE) --no-print-directory O=$(O)/fuzz CC=clang CFLAGS='$(FUZZ_FLAGS)' fuzz-programs
	$(Q)[ -d $(O)/fuzz/machine ] || $(SRC)/tests/machines/make-snapshot $(FUZZ_MACHINE) $(O)/fuzz/machine
	$(Q)[ -d $(O)/fuzz/wire ] || $(SRC)/tests/machines/make-snapshot $(FUZZ_WIRE) $(O)/fuzz/wire
	$(Q)[ -d $(O)/fuzz/names ] || $(SRC)/tests/machines/make-snapshot $(FUZZ_NAMES) $(O)/fuzz/names
	$(Q)rm -rf $(O)/fuzz/seeds
	$(Q)$(SRC)/tests/fuzz/seeds $(O)/fuzz/machine $(O)/fuzz/wire $(O)/fuzz/names $(O)/fuzz/seeds
	$(Q)for name in $(FUZZERS); do echo "fuzzing $$name for $(T) s"; mkdir -p $(O)/fuzz/corpus/$$name $(O)/fuzz/seeds/$$name; \
		FUZZ_MACHINE=$(abspath $(O))/fuzz/machine \
		$(abspath $(O))/fuzz/fuzz_$$name -max_total_time=$(T) -timeout=20 -rss_limit_mb=2048 -print_final_stats=0 -verbosity=0 \
		-artifact_prefix=$(abspath $(O))/fuzz/$$name- $(abspath $(O))/fuzz/corpus/$$name $(SRC)/tests/fuzz/corpus/$$name \
		$(abspath $(O))/fuzz/seeds/$$name || exit 1; done
.PHONY: setup-fuzz fuzz-programs
setup-fuzz:
	$(Q)$(SRC)/tools/setup build lint check
fuzz-programs: $(patsubst %,$(O)/fuzz_%,$(FUZZERS))
# the whole program, its main() under another name
$(O)/obj/cmd/renamed.o: $(O)/obj/cmd/rdmadiag.o
	$(Q)objcopy --redefine-sym main=rdmadiag_main $< $@
$(O)/fuzz_arguments: $(filter-out %/rdmadiag.o,$(CMD_OBJECTS)) $(O)/obj/cmd/renamed.o
$(O)/fuzz_%: $(O)/obj/tests/fuzz/fuzz_%.o $(O)/librdmadiag.a
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(filter %.a,$^) $(ALL_LIBS)

# ---- random faults on the software mlx5 device: make campaign N=1000 SEED=1 ----

N ?= 100
SEED ?= 1
.PHONY: campaign
campaign: setup-check all
	$(Q)$(MAKE) --no-print-directory -s -C $(SRC)/tests/mlx5emu O=$(abspath $(O))/mlx5emu CC='$(CC)' all
	$(Q)RDMADIAG=$(abspath $(O))/rdmadiag MLX5EMU_BUILD=$(abspath $(O))/mlx5emu \
		$(SRC)/tests/mlx5emu/campaign --runs $(N) --seed $(SEED) --json $(O)/campaign-$(SEED).json

# The same, and the probe by itself, with sanitizers in tool and device, and a few runs under valgrind: make campaign-clean
.PHONY: campaign-clean
campaign-clean: setup-check all
	$(Q)$(MAKE) --no-print-directory -s -C $(SRC)/tests/mlx5emu O=$(abspath $(O))/mlx5emu CC='$(CC)' all
	$(Q)RDMADIAG=$(abspath $(O))/rdmadiag MLX5EMU_BUILD=$(abspath $(O))/mlx5emu \
		$(SRC)/tests/mlx5emu/campaign --runs $$(($(N) / 10 + 1)) --seed $(SEED) --valgrind
	$(Q)$(MAKE) --no-print-directory O=$(O)/asan CFLAGS='-O1 -g $(SANITIZE)' all
	$(Q)$(MAKE) --no-print-directory -s -C $(SRC)/tests/mlx5emu O=$(abspath $(O))/asan/mlx5emu CC='$(CC)' CFLAGS='-O1 -g $(SANITIZE)' all
	$(Q)RDMADIAG=$(abspath $(O))/asan/rdmadiag MLX5EMU_BUILD=$(abspath $(O))/asan/mlx5emu \
		$(SRC)/tests/mlx5emu/campaign --runs $(N) --seed $(SEED)

# ---- benchmarks: ratios in one run, in the guest ----

.PHONY: bench bench-stamps
# What one stage of the trace costs, natively on the software mlx5 device: less than 100 ns.
bench-stamps: setup-check all
	$(Q)$(MAKE) --no-print-directory -s -C $(SRC)/tests/mlx5emu O=$(abspath $(O))/mlx5emu CC='$(CC)' all
	$(Q)$(MAKE) --no-print-directory $(O)/bench/stamps
	$(Q)MLX5EMU_BUILD=$(abspath $(O))/mlx5emu $(SRC)/tests/mlx5emu/run $(O)/bench/stamps 100 >$(O)/bench/stamps.txt; \
		status=$$?; cat $(O)/bench/stamps.txt; exit $$status
$(O)/bench/stamps: $(O)/obj/tests/bench/stamps.o $(O)/librdmadiag.a
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(ALL_LIBS)

bench: setup-check all bench-stamps
	$(Q)O=$(O) CC='$(CC)' $(SRC)/tests/bench/run

# ---- style ----

C_FILES = $(shell cd $(SRC) && git ls-files '*.c' '*.h' 2>/dev/null || find cmd lib tests -name '*.[ch]')
.PHONY: lint format
lint:
	$(Q)$(SRC)/tools/setup build lint check
	$(Q)$(SRC)/tools/lint $(O)

format:
	$(Q)cd $(SRC) && clang-format -i $(C_FILES)

# ---- installation ----

MAN_PAGES := $(sort $(wildcard $(SRC)/man/*.[0-9]))
# what is installed for reading
DOCUMENTS := $(SRC)/README.md $(SRC)/LICENSE
EXAMPLES := $(sort $(wildcard $(SRC)/examples/*))

.PHONY: install uninstall
install: all
	$(Q)$(INSTALL) -d $(addprefix $(DESTDIR),$(BINDIR) $(BASHCOMPDIR) $(ZSHCOMPDIR) $(DOCDIR)/examples)
	$(Q)$(INSTALL) -m 755 $(O)/rdmadiag $(DESTDIR)$(BINDIR)/rdmadiag
	$(Q)for page in $(MAN_PAGES); do s=$${page##*.}; \
		$(INSTALL) -d $(DESTDIR)$(MANDIR)/man$$s && $(INSTALL) -m 644 $$page $(DESTDIR)$(MANDIR)/man$$s/ || exit 1; done
	$(Q)$(INSTALL) -m 644 $(SRC)/completions/rdmadiag.bash $(DESTDIR)$(BASHCOMPDIR)/rdmadiag
	$(Q)$(INSTALL) -m 644 $(SRC)/completions/_rdmadiag $(DESTDIR)$(ZSHCOMPDIR)/_rdmadiag
	$(Q)$(INSTALL) -m 644 $(DOCUMENTS) $(DESTDIR)$(DOCDIR)/
	$(Q)for example in $(EXAMPLES); do to=$(DESTDIR)$(DOCDIR)/examples/$${example##*/}; \
		sed 's|/usr/bin/rdmadiag|$(BINDIR)/rdmadiag|' $$example >$$to && chmod 644 $$to || exit 1; done

# Others install there too: what is empty is taken away, but not what a system has from the beginning.
ifneq ($(DESTDIR)$(filter-out /usr /usr/local,$(PREFIX)),)
SHARED_DIRECTORIES := $(BINDIR) $(sort $(foreach page,$(MAN_PAGES),$(MANDIR)/man$(patsubst .%,%,$(suffix $(page))))) $(MANDIR) \
	$(ZSHCOMPDIR) $(ZSHCOMPDIR)/.. $(BASHCOMPDIR) $(BASHCOMPDIR)/.. $(DOCDIR)/.. $(DATADIR) $(PREFIX)
else
SHARED_DIRECTORIES := $(BASHCOMPDIR) $(BASHCOMPDIR)/..
endif
uninstall:
	$(Q)rm -f $(DESTDIR)$(BINDIR)/rdmadiag $(DESTDIR)$(BASHCOMPDIR)/rdmadiag $(DESTDIR)$(ZSHCOMPDIR)/_rdmadiag
	$(Q)rm -f $(foreach page,$(MAN_PAGES),$(DESTDIR)$(MANDIR)/man$(patsubst .%,%,$(suffix $(page)))/$(notdir $(page)))
	$(Q)rm -f $(addprefix $(DESTDIR)$(DOCDIR)/,$(notdir $(DOCUMENTS)) $(addprefix examples/,$(notdir $(EXAMPLES))))
	$(Q)for own in $(abspath $(addprefix $(DESTDIR),$(DOCDIR)/examples $(DOCDIR) $(SHARED_DIRECTORIES))); do [ ! -d $$own ] || \
		rmdir --ignore-fail-on-non-empty $$own; done

# A Debian package of this build: $(O)/rdmadiag_VERSION_ARCHITECTURE.deb
.PHONY: deb
deb: all
	$(Q)$(SRC)/tools/setup deb
	$(Q)MAKE='$(MAKE)' CC='$(CC)' $(SRC)/tools/deb $(O)

.PHONY: clean help FORCE
clean:
	$(Q)rm -rf $(O)

help:
	@echo 'all (default)   build/rdmadiag             demo      topo, gid and probe on RDMA devices'
	@echo 'check           all tests                  asan      tests under ASan and UBSan'
	@echo 'check-long      the tests that take longer  tsan      tests under the thread sanitizer'
	@echo 'valgrind        unit tests, command line, some machines and probes under valgrind'
	@echo 'check-unit -machines -mlx5 -guest          lint      clang-tidy, cppcheck, shellcheck, mandoc'
	@echo 'inject INJECT_SAMPLE=100  every call fails once, in a build with sanitizers'
	@echo 'coverage        lines of lib/ that the tests come by; GUEST=yes: those in the guest too'
	@echo 'bench           beside the peers, in the guest  fuzz T=60  every parser of foreign bytes'
	@echo 'campaign N=1000 SEED=1  verdicts on random faults of a software mlx5 device; campaign-clean: under sanitizers, valgrind'
	@echo 'install uninstall (PREFIX, DESTDIR)        format    clang-format'
	@echo 'deb             a Debian package of it'
	@echo 'variables: CC CFLAGS CPPFLAGS LDFLAGS O=DIR V=1'
