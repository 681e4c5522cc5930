/* SPDX-License-Identifier: MIT */
/* Pseudonyms in a document: in its texts, whatever they are about; keys and versions stay. */
#ifndef RDMADIAG_REPORT_REDACT_JSON_H
#define RDMADIAG_REPORT_REDACT_JSON_H

#include "report/pseudonym.h"

#include <json-c/json.h>

/* In place. 0 or -ENOMEM. */
int redact_json(struct pseudonyms *pseudonyms, json_object *object);

#endif
