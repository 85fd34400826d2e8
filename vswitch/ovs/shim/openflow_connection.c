#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "openvswitch/ofp-errors.h"

#include "openvswitch/ofp-switch.h"
#include "openvswitch/ofp-util.h"
#include "openvswitch/poll-loop.h"
#include "openvswitch/vconn.h"
#include "timeval.h"
#include "util.h"
#include "vswitch/ovs/shim/openflow_connection.h"

bool kovs_fail(char** error, const char* what, int code) {
  *error = code == ETIMEDOUT ? xasprintf("%s: no answer from the switch in time", what)
           : code == EOF     ? xasprintf("%s: the switch closed the connection", what)
                             : xasprintf("%s: %s", what, ovs_strerror(code));
  return false;
}

// The transport header of a first fragment is matched like any other: by default the switch hides it, and a VM
// could pass for a router or a DHCP server in fragments. A setting of the bridge, lost when the switch
// restarts.
static int match_first_fragments(struct vconn* vconn) {
  struct ofputil_switch_config config = {.frag = OFPUTIL_FRAG_NX_MATCH};
  struct ofpbuf* message = ofputil_encode_set_config(&config, kovs_version);
  ofpmsg_update_length(message);
  int code = vconn_send_block(vconn, message);
  if (code) ofpbuf_delete(message);
  return code;
}

int kovs_open_vconn(const char* socket_path, int deadline_ms, struct vconn** vconn) {
  kovs_init();
  char* name = xasprintf("unix:%s", socket_path);
  int code = vconn_open_block(name, 1U << kovs_version, 0, deadline_ms, vconn);
  free(name);
  return code;
}

struct kovs_of* kovs_of_open(const char* socket_path, int deadline_ms, char** error) {
  struct vconn* vconn;
  int code = kovs_open_vconn(socket_path, deadline_ms, &vconn);
  if (code == EPROTO) {
    *error = xasprintf("the switch does not speak OpenFlow 1.5 at %s", socket_path);
    return NULL;
  }
  if (!code && (code = match_first_fragments(vconn))) vconn_close(vconn);
  if (code) {
    kovs_fail(error, socket_path, code);
    return NULL;
  }
  struct kovs_of* of = xzalloc(sizeof *of);
  of->vconn = vconn;
  return of;
}

void kovs_of_close(struct kovs_of* of) {
  if (!of) return;
  vconn_close(of->vconn);
  free(of);
}

bool kovs_is_type(const struct ofpbuf* message, enum ofptype wanted) {
  enum ofptype type;
  return !ofptype_decode(&type, message->data) && type == wanted;
}

ovs_be32 kovs_xid_of(const struct ofpbuf* message) { return ((const struct ofp_header*)message->data)->xid; }

// What a flow monitor tells answers no request.
static bool tells_changes(const struct kovs_of* of, const struct ofpbuf* message) {
  return of->watching && kovs_xid_of(message) == htonl(0) &&
         kovs_is_type(message, OFPTYPE_FLOW_MONITOR_STATS_REPLY);
}

// Receives one message, answering echo requests and noting others' changes on the way. EAGAIN: none there.
static int receive(struct kovs_of* of, struct ofpbuf** message) {
  for (;;) {
    int code = vconn_recv(of->vconn, message);
    if (code) return code;
    if (tells_changes(of, *message)) {
      kovs_note_changes(of, *message);
      ofpbuf_delete(*message);
      continue;
    }
    if (!kovs_is_type(*message, OFPTYPE_ECHO_REQUEST)) return 0;
    struct ofpbuf* reply = ofputil_encode_echo_reply((*message)->data);
    ofpbuf_delete(*message);
    if (vconn_send(of->vconn, reply)) ofpbuf_delete(reply);
  }
}

bool kovs_of_run(struct kovs_of* of) {
  vconn_run(of->vconn);
  for (;;) {
    struct ofpbuf* message;
    int code = receive(of, &message);
    if (code) return code == EAGAIN;
    ofpbuf_delete(message);
  }
}

void kovs_of_wait(struct kovs_of* of) {
  vconn_run_wait(of->vconn);
  vconn_recv_wait(of->vconn);
}

void kovs_start(struct kovs_of* of, int deadline_ms) {
  of->deadline_ms = deadline_ms;
  of->until = time_msec() + deadline_ms;
}

// The switch took or sent something: it has all the time again.
static void progress(struct kovs_of* of) { of->until = time_msec() + of->deadline_ms; }

// Blocks until the connection may have made progress.
static int block(struct kovs_of* of, bool sending) {
  if (time_msec() >= of->until) return ETIMEDOUT;
  vconn_run_wait(of->vconn);
  vconn_recv_wait(of->vconn);
  if (sending) vconn_send_wait(of->vconn);
  poll_timer_wait_until(of->until);
  poll_block();
  return 0;
}

void kovs_keep_error(struct ofpbuf* message, struct ovs_list* errors) {
  if (errors && kovs_is_type(message, OFPTYPE_ERROR)) {
    ovs_list_push_back(errors, &message->list_node);
  } else {
    ofpbuf_delete(message);
  }
}

int kovs_send(struct kovs_of* of, struct ofpbuf* message, struct ovs_list* errors) {
  ofpmsg_update_length(message);
  for (;;) {
    vconn_run(of->vconn);
    int code = vconn_send(of->vconn, message);
    if (!code) {
      progress(of);
      return 0;
    }
    struct ofpbuf* received;
    int receive_code = 0;
    if (code == EAGAIN) {
      while (!(receive_code = receive(of, &received))) kovs_keep_error(received, errors);
      code = receive_code != EAGAIN ? receive_code : block(of, true);
    }
    if (code) {
      ofpbuf_delete(message);
      return code;
    }
  }
}

int kovs_receive_xid(struct kovs_of* of, ovs_be32 xid, struct ovs_list* errors, struct ofpbuf** reply) {
  for (;;) {
    vconn_run(of->vconn);
    int code = receive(of, reply);
    if (!code) {
      progress(of);
      if (kovs_xid_of(*reply) == xid) return 0;
      kovs_keep_error(*reply, errors);
    } else if (code != EAGAIN || (code = block(of, false))) {
      *reply = NULL;
      return code;
    }
  }
}

int kovs_transact(struct kovs_of* of, struct ofpbuf* request, struct ovs_list* errors, struct ofpbuf** reply) {
  ovs_be32 xid = kovs_xid_of(request);
  *reply = NULL;
  int code = kovs_send(of, request, errors);
  return code ? code : kovs_receive_xid(of, xid, errors, reply);
}

char* kovs_describe_error(const struct ofpbuf* message) {
  enum ofperr code = ofperr_decode_msg(message->data, NULL);
  const char* description = code ? ofperr_get_description(code) : NULL;
  return code ? xasprintf("%s (%s)", ofperr_get_name(code), description ? description : "")
              : xstrdup("an error that this program does not know");
}

int kovs_barrier(struct kovs_of* of, struct ovs_list* errors) {
  struct ofpbuf* reply;
  int code = kovs_transact(of, ofputil_encode_barrier_request(kovs_version), errors, &reply);
  if (!code) ofpbuf_delete(reply);
  return code;
}

int kovs_multipart(struct kovs_of* of, struct ofpbuf* request, enum ofptype wanted, kovs_part_cb* callback,
                   void* aux) {
  ovs_be32 xid = kovs_xid_of(request);
  int code = kovs_send(of, request, NULL);
  for (bool more = true; !code && more;) {
    struct ofpbuf* part;
    code = kovs_receive_xid(of, xid, NULL, &part);
    if (code) break;
    if (kovs_is_type(part, wanted)) {
      more = ofpmp_more(part->data);
      code = callback(aux, part);
    } else {
      code = EPROTO;
    }
    ofpbuf_delete(part);
  }
  return code;
}
