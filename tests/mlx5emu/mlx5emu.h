/* SPDX-License-Identifier: MIT */
/*
 * Control of the software mlx5 device from inside a process that runs on it (tests only). Programs find the functions
 * with dlsym(RTLD_DEFAULT, "mlx5emu_…"), so that they also run without the device.
 */
#ifndef MLX5EMU_H
#define MLX5EMU_H

#include <stdint.h>

/* Adds a fault of this process, written as for `run --fault`. Returns 0 or a negative errno. */
int mlx5emu_fault(const char *spec);

/* Takes all faults of this process back. */
void mlx5emu_clear_faults(void);

/* Current value of a port's counter by its sysfs name, hardware or port counter; UINT64_MAX where there is none. */
uint64_t mlx5emu_counter(const char *device, unsigned int port, const char *name);

#endif
