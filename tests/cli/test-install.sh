#!/bin/bash
# SPDX-License-Identifier: MIT
# What `make install` and `make deb` put where, that it runs there, and that nothing of it stays behind.
# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
project=$(cd "$(dirname "$0")/../.." && pwd)
build=$(dirname "$(readlink -f "$RDMADIAG")")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
version=$(cat "$project/VERSION")

# what was built is installed: nothing is compiled here
of_build() { make --no-print-directory -s -C "$project" -o all O="$build" "$@"; }
files() { (cd "$1" && find . -type f | sed 's|^\./||' | LC_ALL=C sort); }
# what of the source is installed, below $1, when PREFIX is /usr
expected() {
	(cd "$project" && for page in man/*.[0-9]; do echo "usr/share/man/man${page##*.}/${page##*/}"; done &&
		for example in examples/*; do echo "usr/share/doc/rdmadiag/$example"; done)
	printf '%s\n' usr/bin/rdmadiag usr/share/bash-completion/completions/rdmadiag usr/share/zsh/site-functions/_rdmadiag \
		usr/share/doc/rdmadiag/README.md usr/share/doc/rdmadiag/LICENSE
}

status_is 0 "make install" of_build install PREFIX=/usr DESTDIR="$dir/root"
is "$(files "$dir/root")" "$(expected | LC_ALL=C sort)" "program, manual pages, completions, documents and examples"
is "$("$dir/root/usr/bin/rdmadiag" --version)" "rdmadiag $version" "the program runs"
is "$(find "$dir/root" -type f -perm /111 | sed "s|^$dir/root/||")" usr/bin/rdmadiag "nothing else can be run"
is "$(find "$dir/root" -type f ! -perm -444)" "" "everybody can read it"
for name in rdmadiag-json.5 rdmadiag-schema.8 rdmadiag-findings.7; do
	ok "$name" test -s "$dir/root/usr/share/man/man${name##*.}/$name"
done
for command in $("$RDMADIAG" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p'); do
	ok "a manual page of $command" test -s "$dir/root/usr/share/man/man8/rdmadiag-$command.8"
done
status_is 0 "make uninstall" of_build uninstall PREFIX=/usr DESTDIR="$dir/root"
is "$(files "$dir/root")" "" "leaves no file"
is "$(find "$dir/root" -mindepth 1)" "" "nor a directory"
status_is 0 "make uninstall again" of_build uninstall PREFIX=/usr DESTDIR="$dir/root"
of_build install PREFIX="$dir/own"
touch "$dir/own/share/man/man8/other.8"
status_is 0 "without DESTDIR" of_build uninstall PREFIX="$dir/own"
is "$(find "$dir/own" -type d -empty; find "$dir/own" -type f)" "$dir/own/share/man/man8/other.8" "what others have there stays"

# a name with blanks is several to make: none of them is touched
mkdir "$dir/kept" "$dir/kept/b"
touch "$dir/kept/a" "$dir/kept/b/file"
for words in "uninstall DESTDIR" "install DESTDIR" "install PREFIX" "clean O"; do
	errors=$(make --no-print-directory -s -C "$project" -o all "${words% *}" "${words#* }=$dir/kept/a $dir/kept/b" 2>&1)
	is "$?" 2 "make $words with a blank"
	like "$errors" "make takes no names with blanks" "says why"
done
for sign in "'" '"' ';' '&' '`'; do
	errors=$(make --no-print-directory -s -C "$project" -o all uninstall "DESTDIR=$dir/kept${sign}b" 2>&1)
	like "$errors" "make takes no names with $sign" "a name with $sign: says why"
done
mkdir "$dir/with blank"
cp -r "$project"/{Makefile,VERSION} "$dir/with blank/"
errors=$(make -s -C "$dir/with blank" clean 2>&1)
like "$errors" "make takes no names with blanks" "sources in a directory with a blank"
is "$(files "$dir/kept")" $'a\nb/file' "nothing is removed"

# ---- the examples
status_is 0 "make install elsewhere" of_build install PREFIX=/opt/rdma DESTDIR="$dir/elsewhere"
service=opt/rdma/share/doc/rdmadiag/examples/rdmadiag-check.service
like "$(cat "$dir/elsewhere/$service")" '^ExecStart=/opt/rdma/bin/rdmadiag check --prom ' "the unit runs the installed program"
command_line=$(sed -n 's/^ExecStart=[^ ]* //p' "$dir/elsewhere/$service")
metrics=${command_line##* }
is "$(sed -n 's/^ReadWritePaths=//p' "$dir/elsewhere/$service")" "${metrics%/*}" "and may write where it writes"
"$project/tests/machines/make-snapshot" t17-arm-hex-domain "$dir/machine" >/dev/null
# word splitting is wanted: the arguments of the unit
# shellcheck disable=SC2086
status_is 1 "its command line" "$RDMADIAG" ${command_line%"$metrics"} "$dir/unit.prom" --from "$dir/machine"
like "$(cat "$dir/unit.prom")" '^rdmadiag_port_active' "writes metrics"
like "$(grep -h ^SuccessExitStatus "$dir/elsewhere/$service")" '=1$' "and findings are no failure of the unit"
if command -v systemd-analyze >/dev/null; then
	mkdir "$dir/units"
	# verify looks for the program
	sed "s|^ExecStart=[^ ]*|ExecStart=$RDMADIAG|" "$dir/elsewhere/$service" >"$dir/units/rdmadiag-check.service"
	cp "$project/examples/rdmadiag-check.timer" "$dir/units/"
	SYSTEMD_UNIT_PATH=$dir/units: systemd-analyze verify --man=no "$dir/units/rdmadiag-check".{service,timer} >"$dir/verify" 2>&1
	is "$? $(cat "$dir/verify")" "0 " "systemd-analyze has nothing to say about service and timer"
else
	skip "systemd-analyze verify" "not here"
fi

# ---- libraries that few runs need are loaded by those
if [ -z "${RDMADIAG_SANITIZED-}" ] && command -v readelf >/dev/null; then
	is "$(readelf -d "$RDMADIAG" | grep -oE 'NEEDED.*lib(archive|mlx5|numa|hwloc|cuda|ibverbs|rdmacm|smartcols)')" "" "libraries in lib/late/ are not linked"
fi

# ---- the package
if [ -n "${RDMADIAG_SANITIZED-}" ] || ! command -v dpkg-shlibdeps >/dev/null; then
	skip "make deb" "a build with sanitizers, or no dpkg-shlibdeps"
	done_testing
	exit
fi
cp "$build/rdmadiag" "$dir/"
status_is 0 "make deb" of_build deb O="$dir"
is "$errors" "" "without a warning"
package=$(tail -n 1 <<<"$output")
is "${package##*/}" "rdmadiag_${version}_$(dpkg --print-architecture).deb" "its name"
is "$(dpkg-deb -f "$package" Version)" "$version" "the version of the one place"
depends=$(dpkg-deb -f "$package" Depends)
for library in libibverbs1 librdmacm1 libmnl0 libsmartcols1 libjson-c5 libc6 libarchive13 ibverbs-providers libnuma1; do
	like ", $depends" ", ${library%13}[0-9t]*( |,|\$)" "it depends on $library"
done
like "$(dpkg-deb -f "$package" Recommends)" "^libhwloc" "and recommends hwloc"
dpkg-deb -x "$package" "$dir/unpacked"
is "$(files "$dir/unpacked" | sed 's/\.gz$//')" "$(expected | sed 's|/site-functions/|/vendor-completions/|; s|/LICENSE$|/copyright|' |
	{ cat; echo usr/share/doc/rdmadiag/changelog; } | LC_ALL=C sort)" "it has all that make install has"
is "$("$dir/unpacked/usr/bin/rdmadiag" --version)" "rdmadiag $version" "its program runs"
"$dir/unpacked/usr/bin/rdmadiag" report --from "$dir/machine" -o "$dir/report.tar.gz" >/dev/null
is "$("$dir/unpacked/usr/bin/rdmadiag" topo --from "$dir/report.tar.gz")" "$("$RDMADIAG" topo --from "$dir/machine")" \
	"with the libraries that it loads"
if [ "$(id -u)" -eq 0 ] && command -v dpkg >/dev/null; then
	mkdir -p "$dir/empty/var/lib/dpkg/"{info,updates}
	touch "$dir/empty/var/lib/dpkg/status"
	# an empty root has none of the libraries
	status_is 0 "dpkg installs it" dpkg --root="$dir/empty" --force-depends --log=/dev/null -i "$package"
	is "$("$dir/empty/usr/bin/rdmadiag" --version)" "rdmadiag $version" "it runs from there"
	status_is 0 "dpkg removes it" dpkg --root="$dir/empty" --log=/dev/null -P rdmadiag
	is "$(find "$dir/empty" -path "$dir/empty/var" -prune -o -type f -print)" "" "and nothing of it is left"
fi
if command -v lintian >/dev/null; then
	# who packs it gives an address; here is none
	is "$(lintian --allow-root --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog "$package" 2>&1)" "" \
		"lintian has nothing to say"
fi
done_testing
