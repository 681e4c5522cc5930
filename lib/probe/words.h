/* SPDX-License-Identifier: MIT */
/* Enumerations of verbs in the words of the document: no numbers, no prefixes. NULL for what is not known. */
#ifndef RDMADIAG_PROBE_WORDS_H
#define RDMADIAG_PROBE_WORDS_H

#include "base/arena.h"
#include "base/text.h"

#include <stdint.h>

const char *qp_state_word(int state);                     /* enum ibv_qp_state: RESET, INIT, RTR … */
const char *link_layer_word(int link_layer);              /* InfiniBand, Ethernet, unspecified */
const char *gid_type_word(uint32_t type, int link_layer); /* enum ibv_gid_type: IB, RoCE v1, RoCE v2 */
const char *event_word(int event);                        /* enum ibv_event_type: CQ_ERR, PORT_ERR … */
const char *status_word(int status);                      /* enum ibv_wc_status: IBV_WC_… */
/* IBV_ACCESS_* as "local-write remote-write"; "" for none. */
const char *access_words(struct arena *arena, unsigned int access);
struct num mtu_bytes(int code); /* enum ibv_mtu */
int mtu_code(int64_t bytes);    /* the largest enum ibv_mtu that fits, 0: none */

#endif
