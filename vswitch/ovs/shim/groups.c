#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "openvswitch/ofp-errors.h"

#include "openvswitch/dynamic-string.h"
#include "openvswitch/ofp-group.h"
#include "util.h"
#include "vswitch/ovs/shim/openflow_connection.h"

// The group_mod for a group, or NULL and an error text.
static struct ofpbuf* encode_group(uint32_t id, const char* group, char** error) {
  struct ds text = DS_EMPTY_INITIALIZER;
  ds_put_format(&text, "group_id=%u,%s", id, group);
  struct ofputil_group_mod mod;
  enum ofputil_protocol usable;
  *error = parse_ofp_group_mod_str(&mod, OFPGC15_ADD_OR_MOD, ds_cstr(&text), NULL, NULL, &usable);
  ds_destroy(&text);
  if (*error) return NULL;
  struct ofpbuf* message = NULL;
  if (usable & kovs_protocol) {
    message = ofputil_encode_group_mod(kovs_version, &mod, NULL, -1);
  } else {
    *error = xstrdup("cannot be expressed in OpenFlow 1.5");
  }
  ofputil_uninit_group_mod(&mod);
  return message;
}

enum kovs_commit_result kovs_of_set_group(struct kovs_of* of, uint32_t id, const char* group, int deadline_ms,
                                          char** error) {
  kovs_start(of, deadline_ms);
  struct ofpbuf* message = encode_group(id, group, error);
  if (!message) return KOVS_REFUSED;
  struct ovs_list errors = OVS_LIST_INITIALIZER(&errors);
  int code = kovs_send(of, message, &errors);
  if (!code) code = kovs_barrier(of, &errors);
  enum kovs_commit_result result = KOVS_COMMITTED;
  if (code) {
    kovs_fail(error, "setting a group", code);
    result = KOVS_BROKEN;
  } else if (!ovs_list_is_empty(&errors)) {
    *error = kovs_describe_error(ofpbuf_from_list(ovs_list_front(&errors)));
    result = KOVS_REFUSED;
  }
  ofpbuf_list_delete(&errors);
  return result;
}

struct group_report {
  kovs_group_cb* callback;
  void* aux;
};

// One line a group: " group_id=7,type=all,...".
static int report_groups(void* aux, struct ofpbuf* part) {
  const struct group_report* report = aux;
  struct ds text = DS_EMPTY_INITIALIZER;
  enum ofperr code = ofputil_group_desc_format(&text, part->data, NULL, NULL);
  char* rest = NULL;
  for (char* line = strtok_r(ds_cstr(&text), "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    unsigned id;
    int begin = 0;
    if (sscanf(line, " group_id=%u,%n", &id, &begin) == 1 && begin)
      report->callback(report->aux, id, line + begin);
  }
  ds_destroy(&text);
  return code ? EPROTO : 0;
}

bool kovs_of_dump_groups(struct kovs_of* of, int deadline_ms, kovs_group_cb* callback, void* aux,
                         char** error) {
  kovs_start(of, deadline_ms);
  struct group_report report = {callback, aux};
  int code = kovs_multipart(of, ofputil_encode_group_desc_request(kovs_version, OFPG_ALL),
                            OFPTYPE_GROUP_DESC_STATS_REPLY, report_groups, &report);
  return !code || kovs_fail(error, "reading the switch's groups", code);
}

// Shows what a switch would answer that was sent `message`.
static enum ofperr show_group(const struct ofpbuf* message, struct group_report* report) {
  struct ofputil_group_mod mod;
  enum ofperr code = ofputil_decode_group_mod(message->data, &mod);
  if (code) return code;
  const struct ofputil_group_desc shown = {.type = mod.type, .group_id = mod.group_id, .props = mod.props};
  struct ofpbuf* request = ofputil_encode_group_desc_request(kovs_version, mod.group_id);
  struct ovs_list replies;
  ofpmp_init(&replies, request->data);
  ofputil_append_group_desc_reply(&shown, &mod.buckets, &replies);
  struct ofpbuf* reply;
  LIST_FOR_EACH(reply, list_node, &replies) {
    ofpmsg_update_length(reply);
    if (report_groups(report, reply)) code = OFPERR_OFPBRC_BAD_LEN;
  }
  ofpbuf_list_delete(&replies);
  ofpbuf_delete(request);
  ofputil_uninit_group_mod(&mod);
  return code;
}

bool kovs_canonical_group(uint32_t id, const char* group, kovs_group_cb* callback, void* aux, char** error) {
  kovs_init();
  struct ofpbuf* message = encode_group(id, group, error);
  if (!message) return false;
  ofpmsg_update_length(message);
  struct group_report report = {callback, aux};
  enum ofperr code = show_group(message, &report);
  if (code) *error = xasprintf("%s (%s)", ofperr_get_name(code), ofperr_get_description(code));
  ofpbuf_delete(message);
  return !code;
}
