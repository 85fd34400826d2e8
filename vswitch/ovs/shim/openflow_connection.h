// An OpenFlow connection of the shim's own files: sending and receiving, with deadlines. Not for C++; include
// <config.h> first.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "openvswitch/list.h"
#include "openvswitch/ofp-msgs.h"
#include "openvswitch/ofp-protocol.h"
#include "openvswitch/ofpbuf.h"
#include "vswitch/ovs/shim/ovs_shim.h"

static const enum ofp_version kovs_version = OFP15_VERSION;
static const enum ofputil_protocol kovs_protocol = OFPUTIL_P_OF15_OXM;

struct vconn;

struct kovs_of {
  struct vconn* vconn;
  bool watching;  // kovs_of_watch_flows()
  uint8_t unwatched_table;
  struct kovs_flow_changes changes;  // That others made, since they were taken.
  uint32_t last_bundle;
  int deadline_ms;  // For the switch to show any progress.
  long long until;
};

// All functions that return an int return 0 or an errno value; EOF: the switch closed the connection.

// Puts the text of `code` into `error`, and returns false.
bool kovs_fail(char** error, const char* what, int code);

// Connects to a bridge's management socket. EPROTO: the switch does not speak OpenFlow 1.5.
int kovs_open_vconn(const char* socket_path, int deadline_ms, struct vconn** vconn);

// Before the first message of a call: the time in which the switch must show any progress.
void kovs_start(struct kovs_of* of, int deadline_ms);

bool kovs_is_type(const struct ofpbuf* message, enum ofptype wanted);
ovs_be32 kovs_xid_of(const struct ofpbuf* message);

// Keeps `message` in `errors` if it is one, else frees it. `errors` may be NULL.
void kovs_keep_error(struct ofpbuf* message, struct ovs_list* errors);

// Takes what a flow monitor tells into `of->changes`.
void kovs_note_changes(struct kovs_of* of, struct ofpbuf* message);

// Sends `message` (consumed). Reads while it waits: a switch that cannot write does not read either.
int kovs_send(struct kovs_of* of, struct ofpbuf* message, struct ovs_list* errors);

// Receives the message with `xid`; other errors go to `errors`.
int kovs_receive_xid(struct kovs_of* of, ovs_be32 xid, struct ovs_list* errors, struct ofpbuf** reply);

// Sends `request` and receives what answers it.
int kovs_transact(struct kovs_of* of, struct ofpbuf* request, struct ovs_list* errors, struct ofpbuf** reply);

// Returns once the switch has done all that was sent before; its refusals are in `errors`.
int kovs_barrier(struct kovs_of* of, struct ovs_list* errors);

// Sends a multipart request and calls back with each part of the reply, which must be of type `wanted`.
typedef int kovs_part_cb(void* aux, struct ofpbuf* part);
int kovs_multipart(struct kovs_of* of, struct ofpbuf* request, enum ofptype wanted, kovs_part_cb* callback,
                   void* aux);

// Text of an error message, for kovs_free().
char* kovs_describe_error(const struct ofpbuf* message);
