/* SPDX-License-Identifier: MIT */
/* Findings on the GID tables. */
#ifndef RDMADIAG_CHECK_GID_H
#define RDMADIAG_CHECK_GID_H

#include "gid/choose.h"
#include "model/gid.h"
#include "model/host.h"

/* Adds findings on judged tables to host->report. */
void check_gid(struct host *host, const struct gid_document *document);
/*
 * Adds findings on indexes that a setting names: document->choices are those of gid_explain(), with what is set where
 * the consumers run.
 */
void check_gid_settings(struct host *host, const struct gid_document *document);
/* Adds findings on settings that leave a consumer none of the devices here. */
void check_gid_devices(
        struct host *host, const struct gid_document *document, const struct gid_environment *environment);
/* Adds a finding on devices that a list of NCCL's means only because it holds beginnings of names. */
void check_gid_hca_list(
        struct host *host, const struct gid_document *document, const struct gid_environment *environment);
/* The same of those that nobody set: consumers that take an entry which cannot work, though there is one that can. */
void check_gid_defaults(struct host *host, const struct gid_document *document);
/* Of these: several adapters in one subnet. */
void check_gid_subnets(struct host *host, const struct gid_document *document);
/* Adds findings on InfiniBand ports of two subnets that cannot be told apart; of a host that is known with its
 * functions. */
void check_gid_lids(struct host *host, const struct gid_document *document);

#endif
