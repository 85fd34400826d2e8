#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "openvswitch/ofp-errors.h"

#include "flow.h"
#include "openvswitch/match.h"
#include "openvswitch/ofp-actions.h"
#include "openvswitch/ofp-msgs.h"
#include "openvswitch/ofp-packet.h"
#include "openvswitch/ofp-switch.h"
#include "openvswitch/ofp-util.h"
#include "openvswitch/ofpbuf.h"
#include "openvswitch/vconn.h"
#include "util.h"
#include "vswitch/ovs/shim/openflow_connection.h"

struct kovs_packets {
  struct vconn* vconn;
  struct ovs_list queue;  // Not yet taken by the connection.
  size_t queued;
};

static void enqueue(struct kovs_packets* packets, struct ofpbuf* message) {
  ofpmsg_update_length(message);
  ovs_list_push_back(&packets->queue, &message->list_node);
  ++packets->queued;
}

// Sends what the connection takes now. False once the connection is gone.
static bool flush(struct kovs_packets* packets) {
  while (packets->queued > 0) {
    struct ofpbuf* message = ofpbuf_from_list(ovs_list_pop_front(&packets->queue));
    int code = vconn_send(packets->vconn, message);
    if (code) {
      ovs_list_push_front(&packets->queue, &message->list_node);
      return code == EAGAIN;
    }
    --packets->queued;
  }
  return true;
}

struct kovs_packets* kovs_packets_open(const char* socket_path, int deadline_ms, char** error) {
  struct vconn* vconn;
  int code = kovs_open_vconn(socket_path, deadline_ms, &vconn);
  if (code) {
    *error = xasprintf("%s: %s", socket_path, ovs_strerror(code));
    return NULL;
  }
  struct kovs_packets* packets = xzalloc(sizeof *packets);
  packets->vconn = vconn;
  ovs_list_init(&packets->queue);
  // Without this a management connection gets no packets; the format is the one that carries userdata.
  struct ofputil_switch_config config = {.frag = OFPUTIL_FRAG_NX_MATCH, .miss_send_len = UINT16_MAX};
  enqueue(packets, ofputil_encode_set_config(&config, kovs_version));
  enqueue(packets, ofputil_encode_set_packet_in_format(kovs_version, OFPUTIL_PACKET_IN_NXT2));
  flush(packets);
  return packets;
}

void kovs_packets_close(struct kovs_packets* packets) {
  if (!packets) return;
  ofpbuf_list_delete(&packets->queue);
  vconn_close(packets->vconn);
  free(packets);
}

static void report(const struct ofp_header* header, kovs_packet_cb* callback, void* aux) {
  struct ofputil_packet_in pin;
  if (ofputil_decode_packet_in(header, true, NULL, NULL, &pin, NULL, NULL, NULL)) return;
  const struct flow* flow = &pin.flow_metadata.flow;
  struct kovs_packet_in packet = {
      .frame = pin.packet,
      .size = pin.packet_len,
      .userdata = pin.userdata,
      .userdata_size = pin.userdata_len,
      .in_port = ofp_to_u16(flow->in_port.ofp_port),
      .metadata = ntohll(flow->metadata),
      .tunnel_id = ntohll(flow->tunnel.tun_id),
      .tunnel_source_v4 = ntohl(flow->tunnel.ip_src),
  };
  memcpy(packet.tunnel_source_v6, &flow->tunnel.ipv6_src, sizeof packet.tunnel_source_v6);
  BUILD_ASSERT_DECL(sizeof packet.registers / sizeof packet.registers[0] <= FLOW_N_REGS);
  memcpy(packet.registers, flow->regs, sizeof packet.registers);
  callback(aux, &packet);
}

static void handle(struct kovs_packets* packets, const struct ofpbuf* message, kovs_packet_cb* callback,
                   void* aux) {
  const struct ofp_header* header = message->data;
  enum ofptype type;
  if (ofptype_decode(&type, header)) return;
  if (type == OFPTYPE_PACKET_IN) report(header, callback, aux);
  if (type == OFPTYPE_ECHO_REQUEST) enqueue(packets, ofputil_encode_echo_reply(header));
}

bool kovs_packets_run(struct kovs_packets* packets, kovs_packet_cb* callback, void* aux) {
  vconn_run(packets->vconn);
  for (;;) {
    struct ofpbuf* message;
    int code = vconn_recv(packets->vconn, &message);
    if (code && code != EAGAIN) return false;
    if (!code) {
      handle(packets, message, callback, aux);
      ofpbuf_delete(message);
    }
    if (!flush(packets)) return false;
    if (code) return true;
  }
}

void kovs_packets_wait(struct kovs_packets* packets) {
  vconn_run_wait(packets->vconn);
  vconn_recv_wait(packets->vconn);
  if (packets->queued > 0) vconn_send_wait(packets->vconn);
}

bool kovs_packets_send(struct kovs_packets* packets, const void* frame, size_t size, const char* actions,
                       char** error) {
  enum { kMaxQueued = 1000 };
  *error = NULL;
  if (packets->queued >= kMaxQueued) return false;
  struct ofpbuf ofpacts;
  ofpbuf_init(&ofpacts, 0);
  enum ofputil_protocol usable = OFPUTIL_P_ANY;
  struct ofpact_parse_params params = {.ofpacts = &ofpacts, .usable_protocols = &usable};
  *error = ofpacts_parse_actions(actions, &params);
  if (!*error) {
    struct ofputil_packet_out out = {.packet = frame,
                                     .packet_len = size,
                                     .buffer_id = UINT32_MAX,
                                     .ofpacts = ofpacts.data,
                                     .ofpacts_len = ofpacts.size};
    match_init_catchall(&out.flow_metadata);
    match_set_in_port(&out.flow_metadata, OFPP_CONTROLLER);
    enqueue(packets, ofputil_encode_packet_out(&out, kovs_protocol));
  }
  ofpbuf_uninit(&ofpacts);
  return !*error;
}
