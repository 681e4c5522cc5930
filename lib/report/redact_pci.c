/* SPDX-License-Identifier: MIT */
#include "report/redact_pci.h"

#include <endian.h>
#include <linux/pci_regs.h>
#include <string.h>

static uint32_t long_at(const unsigned char *config, size_t at)
{
	uint32_t value;
	memcpy(&value, config + at, sizeof(value));
	return le32toh(value);
}

/* The lower half stands first, and each half in little endian: the EUI-64 from its end (PCIe, 7.9.3). */
static void redact_serial(struct pseudonyms *pseudonyms, unsigned char *serial)
{
	uint8_t guid[8];
	for (size_t i = 0; i < sizeof(guid); i++)
		guid[i] = serial[7 - i];
	pseudonym_guid(pseudonyms, guid);
	for (size_t i = 0; i < sizeof(guid); i++)
		serial[7 - i] = guid[i];
}

void redact_pci_config(struct pseudonyms *pseudonyms, unsigned char *config, size_t length)
{
	enum { EXTENDED = 0x100, CAPABILITIES_LIMIT = 1024, SERIAL_SIZE = 12 };
	size_t at = EXTENDED;
	for (int i = 0; i < CAPABILITIES_LIMIT && at >= EXTENDED && at + SERIAL_SIZE <= length; i++) {
		uint32_t header = long_at(config, at);
		if (PCI_EXT_CAP_ID(header) == PCI_EXT_CAP_ID_DSN)
			redact_serial(pseudonyms, config + at + 4);
		at = PCI_EXT_CAP_NEXT(header);
	}
}
