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
#include "openvswitch/ofp-util.h"
#include "openvswitch/ofpbuf.h"
#include "util.h"
#include "vswitch/ovs/shim/openflow_connection.h"

// Of an OpenFlow message with the header of the bundle message around it.
enum { kMaxMessage = UINT16_MAX, kBundleHeader = 16 };

// ---- Ports ------------------------------------------------------------------------------------------

static const enum ofputil_port_config kMuted = OFPUTIL_PC_NO_RECV | OFPUTIL_PC_NO_FWD | OFPUTIL_PC_NO_PACKET_IN;

struct port_report {
  kovs_port_cb* callback;
  void* aux;
};

static int report_ports(void* aux, struct ofpbuf* part) {
  const struct port_report* report = aux;
  enum ofptype type;
  if (ofptype_pull(&type, part)) return EPROTO;
  struct ofputil_phy_port port;
  while (!ofputil_pull_phy_port(kovs_version, part, &port)) {
    const struct kovs_port shown = {.number = ofp_to_u16(port.port_no),
                                    .name = port.name,
                                    .down = port.config & OFPUTIL_PC_PORT_DOWN,
                                    .muted = port.config & kMuted};
    report->callback(report->aux, &shown);
  }
  return 0;
}

bool kovs_of_ports(struct kovs_of* of, int deadline_ms, kovs_port_cb* callback, void* aux, char** error) {
  kovs_start(of, deadline_ms);
  struct port_report report = {callback, aux};
  int code = kovs_multipart(of, ofputil_encode_port_desc_stats_request(kovs_version, OFPP_ANY),
                            OFPTYPE_PORT_DESC_STATS_REPLY, report_ports, &report);
  return !code || kovs_fail(error, "listing the switch's ports", code);
}

// OpenFlow wants the port's MAC beside its number, so that no other port is meant.
struct port_search {
  uint32_t number;
  bool found;
  struct ofputil_port_mod mod;
};

static int find_port(void* aux, struct ofpbuf* part) {
  struct port_search* search = aux;
  enum ofptype type;
  if (ofptype_pull(&type, part)) return EPROTO;
  struct ofputil_phy_port port;
  while (!ofputil_pull_phy_port(kovs_version, part, &port)) {
    if (ofp_to_u16(port.port_no) != search->number) continue;
    search->found = true;
    search->mod.port_no = port.port_no;
    search->mod.hw_addr = port.hw_addr;
  }
  return 0;
}

bool kovs_of_enable_port(struct kovs_of* of, uint32_t number, bool up, int deadline_ms, char** error) {
  kovs_start(of, deadline_ms);
  struct port_search search = {.number = number, .mod = {.mask = kMuted | (up ? OFPUTIL_PC_PORT_DOWN : 0)}};
  struct ovs_list errors = OVS_LIST_INITIALIZER(&errors);
  int code = kovs_multipart(of, ofputil_encode_port_desc_stats_request(kovs_version, OFPP_ANY),
                            OFPTYPE_PORT_DESC_STATS_REPLY, find_port, &search);
  if (!code && search.found) {
    code = kovs_send(of, ofputil_encode_port_mod(&search.mod, kovs_protocol), &errors);
    if (!code) code = kovs_barrier(of, &errors);
  }
  bool refused = !code && !ovs_list_is_empty(&errors);
  if (refused) *error = kovs_describe_error(ofpbuf_from_list(ovs_list_front(&errors)));
  ofpbuf_list_delete(&errors);
  return refused ? false : !code || kovs_fail(error, "enabling a port", code);
}

// ---- Flows ------------------------------------------------------------------------------------------

// Parses a flow into `fm`, to be freed with free_flow_mod(). Returns an error text or NULL.
static char* parse_flow(const struct kovs_flow* flow, struct ofputil_flow_mod* fm) {
  struct ds text = DS_EMPTY_INITIALIZER;
  ds_put_format(&text, "table=%u,priority=%u", flow->table, flow->priority);
  if (!flow->remove) ds_put_format(&text, ",cookie=%#llx", (unsigned long long)flow->cookie);
  if (flow->reset_counters) ds_put_cstr(&text, ",reset_counts");
  if (flow->match[0]) ds_put_format(&text, ",%s", flow->match);
  if (!flow->remove) ds_put_format(&text, " actions=%s", flow->actions);
  enum ofputil_protocol usable;
  char* error =
      parse_ofp_str(fm, flow->remove ? OFPFC_DELETE_STRICT : OFPFC_ADD, ds_cstr(&text), NULL, NULL, &usable);
  ds_destroy(&text);
  if (!error && !(usable & kovs_protocol)) {
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
  struct ofpbuf* message = ofputil_encode_flow_mod(&fm, kovs_protocol);
  free_flow_mod(&fm);
  if (message->size > kMaxMessage - kBundleHeader) {
    *error = xasprintf("takes %u bytes, which does not fit into OpenFlow's 64 KB", message->size);
    ofpbuf_delete(message);
    return NULL;
  }
  ofpmsg_update_length(message);
  return message;
}

static int bundle_control(struct kovs_of* of, uint16_t type, struct ovs_list* errors) {
  struct ofputil_bundle_ctrl_msg control = {
      .bundle_id = of->last_bundle, .type = type, .flags = OFPBF_ORDERED | OFPBF_ATOMIC};
  struct ofpbuf* reply;
  int code = kovs_transact(of, ofputil_encode_bundle_ctrl_request(kovs_version, &control), errors, &reply);
  if (code) return code;
  bool ok = kovs_is_type(reply, OFPTYPE_BUNDLE_CONTROL);
  kovs_keep_error(reply, errors);
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
    xids[i] = kovs_xid_of(message);
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
    code = kovs_send(of, ofputil_encode_bundle_add(kovs_version, &add), errors);
  }
  if (code) return code;
  // A message that fails is only left out of the bundle: be sure that there is none before the commit.
  code = kovs_barrier(of, errors);
  if (code) return code;
  bool good = ovs_list_is_empty(errors);
  return bundle_control(of, good ? OFPBCT_COMMIT_REQUEST : OFPBCT_DISCARD_REQUEST, errors);
}

// Finds whose xid the errors carry. The error of the commit itself comes last and names no flow.
static void find_failed(const struct ovs_list* errors, const ovs_be32* xids, size_t n, size_t* failed,
                        char** error) {
  const struct ofpbuf* message;
  LIST_FOR_EACH(message, list_node, errors) {
    for (size_t i = 0; i < n; ++i) {
      if (xids[i] == kovs_xid_of(message)) {
        *failed = i;
        *error = kovs_describe_error(message);
        return;
      }
    }
  }
  *failed = n;
  *error = kovs_describe_error(ofpbuf_from_list(ovs_list_front(errors)));
}

enum kovs_commit_result kovs_of_commit(struct kovs_of* of, const struct kovs_flow* flows, size_t n,
                                       int deadline_ms, size_t* failed, char** error) {
  struct ovs_list messages = OVS_LIST_INITIALIZER(&messages);
  struct ovs_list errors = OVS_LIST_INITIALIZER(&errors);
  ovs_be32* xids = xmalloc(n * sizeof *xids + 1);
  enum kovs_commit_result result = KOVS_REFUSED;
  if (encode_all(flows, n, &messages, xids, failed, error)) {
    kovs_start(of, deadline_ms);
    int code = send_bundle(of, &messages, &errors);
    if (code) {
      kovs_fail(error, "committing flows", code);
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

struct flow_report {
  kovs_flow_cb* callback;
  void* aux;
  struct flow_text text;
  struct ofpbuf ofpacts;
};

static int report_flows(void* aux, struct ofpbuf* part) {
  struct flow_report* report = aux;
  for (;;) {
    struct ofputil_flow_stats stats;
    int code = ofputil_decode_flow_stats_reply(&stats, part, false, &report->ofpacts);
    if (code) return code == EOF ? 0 : EPROTO;
    report_stats(&stats, &report->text, report->callback, report->aux);
  }
}

bool kovs_of_dump(struct kovs_of* of, int deadline_ms, kovs_flow_cb* callback, void* aux, char** error) {
  kovs_start(of, deadline_ms);
  struct ofputil_flow_stats_request all = {.table_id = OFPTT_ALL, .out_port = OFPP_ANY, .out_group = OFPG_ANY};
  match_init_catchall(&all.match);
  struct flow_report report = {callback, aux, {DS_EMPTY_INITIALIZER, DS_EMPTY_INITIALIZER}, {0}};
  ofpbuf_init(&report.ofpacts, 0);
  int code = kovs_multipart(of, ofputil_encode_flow_stats_request(&all, kovs_protocol),
                            OFPTYPE_FLOW_STATS_REPLY, report_flows, &report);
  ofpbuf_uninit(&report.ofpacts);
  free_text(&report.text);
  return !code || kovs_fail(error, "dumping flows", code);
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
      ofputil_decode_flow_mod(&fm, message->data, kovs_protocol, NULL, NULL, &ofpacts, OFPP_MAX, UINT8_MAX);
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
