#include <config.h>

#include <errno.h>

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
