/* SPDX-License-Identifier: MIT */
/*
 * Names as mlx5_ib and the kernel's port attributes give them (drivers/infiniband/hw/mlx5/counters.c,
 * drivers/infiniband/core/sysfs.c).
 */
#include "emu.h"

const char *const port_counter_name[PC_COUNT] = {
	[PC_XMIT_DATA] = "port_xmit_data", /* in units of four bytes, as all of IBTA's data counters */
	[PC_RCV_DATA] = "port_rcv_data",
	[PC_XMIT_PACKETS] = "port_xmit_packets",
	[PC_RCV_PACKETS] = "port_rcv_packets",
	[PC_UNICAST_XMIT] = "unicast_xmit_packets",
	[PC_UNICAST_RCV] = "unicast_rcv_packets",
	[PC_XMIT_DISCARDS] = "port_xmit_discards",
	[PC_RCV_ERRORS] = "port_rcv_errors",
	[PC_LINK_DOWNED] = "link_downed",
	[PC_LINK_RECOVERY] = "link_error_recovery",
};

/* Files that are there and stay 0. */
const char *const static_counter_name[] = { "symbol_error", "port_rcv_remote_physical_errors",
	"port_rcv_switch_relay_errors", "port_xmit_constraint_errors", "port_rcv_constraint_errors",
	"local_link_integrity_errors", "excessive_buffer_overrun_errors", "VL15_dropped", "port_xmit_wait",
	"multicast_rcv_packets", "multicast_xmit_packets", NULL };

const char *const hw_counter_name[HC_COUNT] = {
	[HC_RX_WRITE] = "rx_write_requests",
	[HC_RX_READ] = "rx_read_requests",
	[HC_RX_ATOMIC] = "rx_atomic_requests",
	[HC_RX_DCT_CONNECT] = "rx_dct_connect",
	[HC_OUT_OF_BUFFER] = "out_of_buffer",
	[HC_OUT_OF_SEQUENCE] = "out_of_sequence",
	[HC_DUPLICATE] = "duplicate_request",
	[HC_RNR_NAK_RETRY] = "rnr_nak_retry_err",
	[HC_PACKET_SEQ_ERR] = "packet_seq_err",
	[HC_IMPLIED_NAK] = "implied_nak_seq_err",
	[HC_ACK_TIMEOUT] = "local_ack_timeout_err",
	[HC_RESP_LENGTH] = "resp_local_length_error",
	[HC_RESP_CQE_ERR] = "resp_cqe_error",
	[HC_REQ_CQE_ERR] = "req_cqe_error",
	[HC_REQ_INVALID] = "req_remote_invalid_request",
	[HC_REQ_ACCESS] = "req_remote_access_errors",
	[HC_RESP_ACCESS] = "resp_remote_access_errors",
	[HC_RESP_FLUSH] = "resp_cqe_flush_error",
	[HC_REQ_FLUSH] = "req_cqe_flush_error",
	[HC_TRANSPORT_RETRIES] = "req_transport_retries_exceeded",
	[HC_RNR_RETRIES] = "req_rnr_retries_exceeded",
	[HC_ADP_RETRANS] = "roce_adp_retrans",
	[HC_ADP_RETRANS_TO] = "roce_adp_retrans_to",
	[HC_SLOW_RESTART] = "roce_slow_restart",
	[HC_SLOW_RESTART_CNPS] = "roce_slow_restart_cnps",
	[HC_SLOW_RESTART_TRANS] = "roce_slow_restart_trans",
	[HC_CNP_IGNORED] = "rp_cnp_ignored",
	[HC_CNP_HANDLED] = "rp_cnp_handled",
	[HC_ECN_MARKED] = "np_ecn_marked_roce_packets",
	[HC_CNP_SENT] = "np_cnp_sent",
	[HC_ICRC] = "rx_icrc_encapsulated",
};
