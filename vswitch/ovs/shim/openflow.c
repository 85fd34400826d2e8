#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "openvswitch/ofp-errors.h"

#include "byte-order.h"
#include "flow.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/match.h"
#include "openvswitch/ofp-actions.h"
#include "openvswitch/ofp-bundle.h"
#include "openvswitch/ofp-flow.h"
#include "openvswitch/ofp-msgs.h"
#include "openvswitch/ofp-port.h"
#include "openvswitch/ofp-switch.h"
#include "openvswitch/ofp-util.h"
#include "openvswitch/ofpbuf.h"
#include "openvswitch/poll-loop.h"
#include "openvswitch/vconn.h"
#include "timeval.h"
#include "util.h"
#include "vswitch/ovs/shim/ovs_shim.h"

static const enum ofp_version kVersion = OFP15_VERSION;
static const enum ofputil_protocol kProtocol = OFPUTIL_P_OF15_OXM;
// Of an OpenFlow message with the header of the bundle message around it.
enum { kMaxMessage = UINT16_MAX, kBundleHeader = 16 };

struct kovs_of {
  struct vconn* vconn;
  uint32_t last_bundle;
  int deadline_ms;  // For the switch to show any progress.
  long long until;
};

static bool fail(char** error, const char* what, int code) {
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
  struct ofpbuf* message = ofputil_encode_set_config(&config, kVersion);
  ofpmsg_update_length(message);
  int code = vconn_send_block(vconn, message);
  if (code) ofpbuf_delete(message);
  return code;
}

struct kovs_of* kovs_of_open(const char* socket_path, int deadline_ms, char** error) {
  kovs_init();
  char* name = xasprintf("unix:%s", socket_path);
  struct vconn* vconn;
  int code = vconn_open_block(name, 1U << kVersion, 0, deadline_ms, &vconn);
  free(name);
  if (code == EPROTO) {
    *error = xasprintf("the switch does not speak OpenFlow 1.5 at %s", socket_path);
    return NULL;
  }
  if (!code && (code = match_first_fragments(vconn))) vconn_close(vconn);
  if (code) {
    fail(error, socket_path, code);
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

static bool is_type(const struct ofpbuf* message, enum ofptype wanted) {
  enum ofptype type;
  return !ofptype_decode(&type, message->data) && type == wanted;
}

static ovs_be32 xid_of(const struct ofpbuf* message) { return ((const struct ofp_header*)message->data)->xid; }

// Receives one message, answering echo requests on the way. EAGAIN: none there.
static int receive(struct kovs_of* of, struct ofpbuf** message) {
  for (;;) {
    int code = vconn_recv(of->vconn, message);
    if (code) return code;
    if (!is_type(*message, OFPTYPE_ECHO_REQUEST)) return 0;
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

static void start(struct kovs_of* of, int deadline_ms) {
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

// Keeps `message` in `errors` if it is one, else frees it.
static void keep_error(struct ofpbuf* message, struct ovs_list* errors) {
  if (errors && is_type(message, OFPTYPE_ERROR)) {
    ovs_list_push_back(errors, &message->list_node);
  } else {
    ofpbuf_delete(message);
  }
}

// Sends `message` (consumed). Reads while it waits: a switch that cannot write does not read either.
static int send_message(struct kovs_of* of, struct ofpbuf* message, struct ovs_list* errors) {
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
      while (!(receive_code = receive(of, &received))) keep_error(received, errors);
      code = receive_code != EAGAIN ? receive_code : block(of, true);
    }
    if (code) {
      ofpbuf_delete(message);
      return code;
    }
  }
}

// Receives the message with `xid`; other errors go to `errors`.
static int receive_xid(struct kovs_of* of, ovs_be32 xid, struct ovs_list* errors, struct ofpbuf** reply) {
  for (;;) {
    vconn_run(of->vconn);
    int code = receive(of, reply);
    if (!code) {
      progress(of);
      if (xid_of(*reply) == xid) return 0;
      keep_error(*reply, errors);
    } else if (code != EAGAIN || (code = block(of, false))) {
      *reply = NULL;
      return code;
    }
  }
}

static int transact(struct kovs_of* of, struct ofpbuf* request, struct ovs_list* errors,
                    struct ofpbuf** reply) {
  ovs_be32 xid = xid_of(request);
  *reply = NULL;
  int code = send_message(of, request, errors);
  return code ? code : receive_xid(of, xid, errors, reply);
}

// ---- Ports ------------------------------------------------------------------------------------------

bool kovs_of_ports(struct kovs_of* of, int deadline_ms, kovs_port_cb* callback, void* aux, char** error) {
  start(of, deadline_ms);
  struct ofpbuf* request = ofputil_encode_port_desc_stats_request(kVersion, OFPP_ANY);
  ovs_be32 xid = xid_of(request);
  int code = send_message(of, request, NULL);
  for (bool more = true; !code && more;) {
    struct ofpbuf* reply;
    code = receive_xid(of, xid, NULL, &reply);
    if (code) break;
    if (!is_type(reply, OFPTYPE_PORT_DESC_STATS_REPLY)) {
      code = EPROTO;
    } else {
      struct ofpbuf body = ofpbuf_const_initializer(reply->data, reply->size);
      enum ofptype type;
      struct ofputil_phy_port port;
      code = ofptype_pull(&type, &body) ? EPROTO : 0;
      while (!code && !ofputil_pull_phy_port(kVersion, &body, &port)) {
        callback(aux, ofp_to_u16(port.port_no), port.name);
      }
      more = ofpmp_more(reply->data);
    }
    ofpbuf_delete(reply);
  }
  return !code || fail(error, "listing the switch's ports", code);
}

// ---- Flows ------------------------------------------------------------------------------------------

// Parses a flow into `fm`, to be freed with free_flow_mod(). Returns an error text or NULL.
static char* parse_flow(const struct kovs_flow* flow, struct ofputil_flow_mod* fm) {
  struct ds text = DS_EMPTY_INITIALIZER;
  ds_put_format(&text, "table=%u,priority=%u", flow->table, flow->priority);
  if (!flow->remove) ds_put_format(&text, ",cookie=%#llx", (unsigned long long)flow->cookie);
  if (flow->match[0]) ds_put_format(&text, ",%s", flow->match);
  if (!flow->remove) ds_put_format(&text, " actions=%s", flow->actions);
  enum ofputil_protocol usable;
  char* error =
      parse_ofp_str(fm, flow->remove ? OFPFC_DELETE_STRICT : OFPFC_ADD, ds_cstr(&text), NULL, NULL, &usable);
  ds_destroy(&text);
  if (!error && !(usable & kProtocol)) {
    free(CONST_CAST(struct ofpact*, fm->ofpacts));
    minimatch_destroy(&fm->match);
    error = xstrdup("cannot be expressed in OpenFlow 1.5");
  }
  return error;
}

static void free_flow_mod(struct ofputil_flow_mod* fm) {
  free(CONST_CAST(struct ofpact*, fm->ofpacts));
  minimatch_destroy(&fm->match);
}

// The flow_mod for `flow`, or NULL and an error text.
static struct ofpbuf* encode_flow(const struct kovs_flow* flow, char** error) {
  struct ofputil_flow_mod fm;
  *error = parse_flow(flow, &fm);
  if (*error) return NULL;
  struct ofpbuf* message = ofputil_encode_flow_mod(&fm, kProtocol);
  free_flow_mod(&fm);
  if (message->size > kMaxMessage - kBundleHeader) {
    *error = xasprintf("takes %u bytes, which does not fit into OpenFlow's 64 KB", message->size);
    ofpbuf_delete(message);
    return NULL;
  }
  ofpmsg_update_length(message);
  return message;
}

static char* describe_error(const struct ofpbuf* message) {
  enum ofperr code = ofperr_decode_msg(message->data, NULL);
  const char* description = code ? ofperr_get_description(code) : NULL;
  return code ? xasprintf("%s (%s)", ofperr_get_name(code), description ? description : "")
              : xstrdup("an error that this program does not know");
}

static int bundle_control(struct kovs_of* of, uint16_t type, struct ovs_list* errors) {
  struct ofputil_bundle_ctrl_msg control = {
      .bundle_id = of->last_bundle, .type = type, .flags = OFPBF_ORDERED | OFPBF_ATOMIC};
  struct ofpbuf* reply;
  int code = transact(of, ofputil_encode_bundle_ctrl_request(kVersion, &control), errors, &reply);
  if (code) return code;
  bool ok = is_type(reply, OFPTYPE_BUNDLE_CONTROL);
  keep_error(reply, errors);
  return ok || !ovs_list_is_empty(errors) ? 0 : EPROTO;
}

// Encodes all flows into `messages`. Returns false, with *failed and *error set, at the first bad one.
static bool encode_all(const struct kovs_flow* flows, size_t n, struct ovs_list* messages, ovs_be32* xids,
                       size_t* failed, char** error) {
  for (size_t i = 0; i < n; ++i) {
    struct ofpbuf* message = encode_flow(&flows[i], error);
    if (!message) {
      *failed = i;
      return false;
    }
    xids[i] = xid_of(message);
    ovs_list_push_back(messages, &message->list_node);
  }
  return true;
}

static int send_bundle(struct kovs_of* of, struct ovs_list* messages, struct ovs_list* errors) {
  ++of->last_bundle;
  int code = bundle_control(of, OFPBCT_OPEN_REQUEST, errors);
  struct ofpbuf* message;
  LIST_FOR_EACH(message, list_node, messages) {
    if (code || !ovs_list_is_empty(errors)) break;
    struct ofputil_bundle_add_msg add = {
        .bundle_id = of->last_bundle, .flags = OFPBF_ORDERED | OFPBF_ATOMIC, .msg = message->data};
    code = send_message(of, ofputil_encode_bundle_add(kVersion, &add), errors);
  }
  if (code) return code;
  // A message that fails is only left out of the bundle: be sure that there is none before the commit.
  struct ofpbuf* reply;
  code = transact(of, ofputil_encode_barrier_request(kVersion), errors, &reply);
  if (code) return code;
  ofpbuf_delete(reply);
  bool good = ovs_list_is_empty(errors);
  return bundle_control(of, good ? OFPBCT_COMMIT_REQUEST : OFPBCT_DISCARD_REQUEST, errors);
}

// Finds whose xid the errors carry. The error of the commit itself comes last and names no flow.
static void find_failed(const struct ovs_list* errors, const ovs_be32* xids, size_t n, size_t* failed,
                        char** error) {
  const struct ofpbuf* message;
  LIST_FOR_EACH(message, list_node, errors) {
    for (size_t i = 0; i < n; ++i) {
      if (xids[i] == xid_of(message)) {
        *failed = i;
        *error = describe_error(message);
        return;
      }
    }
  }
  *failed = n;
  *error = describe_error(ofpbuf_from_list(ovs_list_front(errors)));
}

enum kovs_commit_result kovs_of_commit(struct kovs_of* of, const struct kovs_flow* flows, size_t n,
                                       int deadline_ms, size_t* failed, char** error) {
  struct ovs_list messages = OVS_LIST_INITIALIZER(&messages);
  struct ovs_list errors = OVS_LIST_INITIALIZER(&errors);
  ovs_be32* xids = xmalloc(n * sizeof *xids + 1);
  enum kovs_commit_result result = KOVS_REFUSED;
  if (encode_all(flows, n, &messages, xids, failed, error)) {
    start(of, deadline_ms);
    int code = send_bundle(of, &messages, &errors);
    if (code) {
      fail(error, "committing flows", code);
      result = KOVS_BROKEN;
    } else if (ovs_list_is_empty(&errors)) {
      result = KOVS_COMMITTED;
    } else {
      find_failed(&errors, xids, n, failed, error);
    }
  }
  free(xids);
  ofpbuf_list_delete(&messages);
  ofpbuf_list_delete(&errors);
  return result;
}

// ---- Reading flows ----------------------------------------------------------------------------------

// Texts that are used again from flow to flow.
struct flow_text {
  struct ds match;
  struct ds actions;
};

static void format_actions(struct flow_text* text, const struct ofpact* ofpacts, size_t len) {
  struct ofpact_format_params params = {.s = &text->actions};
  ds_clear(&text->actions);
  ofpacts_format(ofpacts, len, &params);
}

static void free_text(struct flow_text* text) {
  ds_destroy(&text->match);
  ds_destroy(&text->actions);
}

static void report_stats(const struct ofputil_flow_stats* stats, struct flow_text* text, kovs_flow_cb* callback,
                         void* aux) {
  ds_clear(&text->match);
  match_format(&stats->match, NULL, &text->match, OFP_DEFAULT_PRIORITY);
  format_actions(text, stats->ofpacts, stats->ofpacts_len);
  struct kovs_dumped_flow flow = {
      .table = stats->table_id,
      .priority = stats->priority,
      .cookie = ntohll(stats->cookie),
      .match = ds_cstr(&text->match),
      .actions = ds_cstr(&text->actions),
      .packets = stats->packet_count == UINT64_MAX ? 0 : stats->packet_count,
      .bytes = stats->byte_count == UINT64_MAX ? 0 : stats->byte_count,
  };
  callback(aux, &flow);
}

// Reports the flows of one reply. Returns 0 or an errno value.
static int report_reply(struct ofpbuf* reply, struct ofpbuf* ofpacts, struct flow_text* text,
                        kovs_flow_cb* callback, void* aux) {
  for (;;) {
    struct ofputil_flow_stats stats;
    int code = ofputil_decode_flow_stats_reply(&stats, reply, false, ofpacts);
    if (code) return code == EOF ? 0 : EPROTO;
    report_stats(&stats, text, callback, aux);
  }
}

bool kovs_of_dump(struct kovs_of* of, int deadline_ms, kovs_flow_cb* callback, void* aux, char** error) {
  start(of, deadline_ms);
  struct ofputil_flow_stats_request all = {.table_id = OFPTT_ALL, .out_port = OFPP_ANY, .out_group = OFPG_ANY};
  match_init_catchall(&all.match);
  struct ofpbuf* request = ofputil_encode_flow_stats_request(&all, kProtocol);
  ovs_be32 xid = xid_of(request);
  struct flow_text text = {DS_EMPTY_INITIALIZER, DS_EMPTY_INITIALIZER};
  struct ofpbuf ofpacts;
  ofpbuf_init(&ofpacts, 0);
  int code = send_message(of, request, NULL);
  for (bool more = true; !code && more;) {
    struct ofpbuf* reply;
    code = receive_xid(of, xid, NULL, &reply);
    if (code) break;
    if (is_type(reply, OFPTYPE_FLOW_STATS_REPLY)) {
      more = ofpmp_more(reply->data);
      code = report_reply(reply, &ofpacts, &text, callback, aux);
    } else {
      code = EPROTO;
    }
    ofpbuf_delete(reply);
  }
  ofpbuf_uninit(&ofpacts);
  free_text(&text);
  return !code || fail(error, "dumping flows", code);
}

bool kovs_canonical(const struct kovs_flow* flow, kovs_flow_cb* callback, void* aux, char** error) {
  kovs_init();
  struct ofpbuf* message = encode_flow(flow, error);
  if (!message) return false;
  // What the switch makes of it: some actions are spelled differently once they were sent.
  struct ofputil_flow_mod fm;
  uint64_t stub[1024 / 8];
  struct ofpbuf ofpacts = OFPBUF_STUB_INITIALIZER(stub);
  enum ofperr code =
      ofputil_decode_flow_mod(&fm, message->data, kProtocol, NULL, NULL, &ofpacts, OFPP_MAX, UINT8_MAX);
  if (code) {
    *error = xasprintf("%s (%s)", ofperr_get_name(code), ofperr_get_description(code));
  } else {
    struct flow_text text = {DS_EMPTY_INITIALIZER, DS_EMPTY_INITIALIZER};
    minimatch_format(&fm.match, NULL, NULL, &text.match, OFP_DEFAULT_PRIORITY);
    format_actions(&text, fm.ofpacts, fm.ofpacts_len);
    struct kovs_dumped_flow canonical = {.table = flow->table,
                                         .priority = flow->priority,
                                         .cookie = flow->cookie,
                                         .match = ds_cstr(&text.match),
                                         .actions = ds_cstr(&text.actions)};
    callback(aux, &canonical);
    free_text(&text);
    minimatch_destroy(&fm.match);
  }
  ofpbuf_uninit(&ofpacts);
  ofpbuf_delete(message);
  return !code;
}
