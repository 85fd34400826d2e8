// Being told of what others change in the switch's flows (OpenFlow 1.5, 7.3.5.22).
#include <config.h>

#include <errno.h>
#include <string.h>

#include "openvswitch/ofp-errors.h"

#include "openvswitch/dynamic-string.h"
#include "openvswitch/match.h"
#include "openvswitch/ofp-flow.h"
#include "openvswitch/ofp-monitor.h"
#include "openvswitch/ofpbuf.h"
#include "util.h"
#include "vswitch/ovs/shim/openflow_connection.h"

enum { kMonitor = 1 };

bool kovs_of_watch_flows(struct kovs_of* of, uint8_t except_table, int deadline_ms, char** error) {
  kovs_start(of, deadline_ms);
  // Neither actions nor what is there already: the connection's own changes are told as a transaction id each.
  struct ofputil_flow_monitor_request monitor = {.id = kMonitor,
                                                 .command = OFPFMC_ADD,
                                                 .flags = OFPFMF_ADD | OFPFMF_REMOVED | OFPFMF_MODIFY,
                                                 .out_port = OFPP_ANY,
                                                 .out_group = OFPG_ANY,
                                                 .table_id = OFPTT_ALL};
  match_init_catchall(&monitor.match);
  struct ofpbuf* request = ofpbuf_new(0);
  ofputil_append_flow_monitor_request(&monitor, request, kovs_protocol);
  of->unwatched_table = except_table;
  struct ofpbuf* reply;
  int code = kovs_transact(of, request, NULL, &reply);
  if (!code && !kovs_is_type(reply, OFPTYPE_FLOW_MONITOR_STATS_REPLY)) {
    *error = kovs_is_type(reply, OFPTYPE_ERROR) ? kovs_describe_error(reply) : xstrdup("an unexpected answer");
    ofpbuf_delete(reply);
    return false;
  }
  if (code) return kovs_fail(error, "watching the flows", code);
  ofpbuf_delete(reply);
  of->watching = true;
  return true;
}

static void note_first(struct kovs_of* of, const struct ofputil_flow_update* update) {
  if (of->changes.first[0]) return;
  struct ds text = DS_EMPTY_INITIALIZER;
  ds_put_format(&text, "table=%u,priority=%u,", update->table_id, update->priority);
  match_format(&update->match, NULL, &text, OFP_DEFAULT_PRIORITY);
  ovs_strlcpy(of->changes.first, ds_cstr(&text), sizeof of->changes.first);
  ds_destroy(&text);
}

void kovs_note_changes(struct kovs_of* of, struct ofpbuf* message) {
  struct ofpbuf ofpacts;
  ofpbuf_init(&ofpacts, 0);
  struct ofputil_flow_update update;
  while (!ofputil_decode_flow_update(&update, message, &ofpacts)) {
    // A switch that pauses tells later what it left out.
    if (update.event != OFPFME_ADDED && update.event != OFPFME_REMOVED && update.event != OFPFME_MODIFIED)
      continue;
    if (update.table_id == of->unwatched_table) continue;
    of->changes.added += update.event == OFPFME_ADDED;
    of->changes.deleted += update.event == OFPFME_REMOVED;
    of->changes.modified += update.event == OFPFME_MODIFIED;
    update.match.flow.tunnel.metadata.tab = NULL;
    note_first(of, &update);
  }
  ofpbuf_uninit(&ofpacts);
}

struct kovs_flow_changes kovs_of_take_changes(struct kovs_of* of) {
  struct kovs_flow_changes taken = of->changes;
  memset(&of->changes, 0, sizeof of->changes);
  return taken;
}
