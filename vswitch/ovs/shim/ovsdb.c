#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "openvswitch/poll-loop.h"
#include "openvswitch/shash.h"
#include "ovsdb-idl.h"
#include "smap.h"
#include "timeval.h"
#include "util.h"
#include "vswitch-idl.h"
#include "vswitch/ovs/shim/ovs_shim.h"

static const char kOwnerKey[] = "kasane-owner";

struct kovs_db {
  struct ovsdb_idl* idl;
};

static const struct ovsdb_idl_column* const kMonitored[] = {
    &ovsrec_open_vswitch_columns[OVSREC_OPEN_VSWITCH_COL_BRIDGES],
    &ovsrec_open_vswitch_columns[OVSREC_OPEN_VSWITCH_COL_OVS_VERSION],
    &ovsrec_open_vswitch_columns[OVSREC_OPEN_VSWITCH_COL_DATAPATH_TYPES],
    &ovsrec_open_vswitch_columns[OVSREC_OPEN_VSWITCH_COL_IFACE_TYPES],
    &ovsrec_bridge_columns[OVSREC_BRIDGE_COL_NAME],
    &ovsrec_bridge_columns[OVSREC_BRIDGE_COL_DATAPATH_TYPE],
    &ovsrec_bridge_columns[OVSREC_BRIDGE_COL_FAIL_MODE],
    &ovsrec_bridge_columns[OVSREC_BRIDGE_COL_PROTOCOLS],
    &ovsrec_bridge_columns[OVSREC_BRIDGE_COL_EXTERNAL_IDS],
    &ovsrec_bridge_columns[OVSREC_BRIDGE_COL_PORTS],
    &ovsrec_port_columns[OVSREC_PORT_COL_NAME],
    &ovsrec_port_columns[OVSREC_PORT_COL_EXTERNAL_IDS],
    &ovsrec_port_columns[OVSREC_PORT_COL_INTERFACES],
    &ovsrec_interface_columns[OVSREC_INTERFACE_COL_NAME],
    &ovsrec_interface_columns[OVSREC_INTERFACE_COL_TYPE],
    &ovsrec_interface_columns[OVSREC_INTERFACE_COL_OPTIONS],
    &ovsrec_interface_columns[OVSREC_INTERFACE_COL_EXTERNAL_IDS],
    &ovsrec_interface_columns[OVSREC_INTERFACE_COL_OFPORT],
    &ovsrec_interface_columns[OVSREC_INTERFACE_COL_ERROR],
};

struct kovs_db* kovs_db_open(const char* remote) {
  kovs_init();
  struct kovs_db* db = xzalloc(sizeof *db);
  db->idl = ovsdb_idl_create(remote, &ovsrec_idl_class, false, true);
  ovsdb_idl_set_leader_only(db->idl, false);
  for (size_t i = 0; i < ARRAY_SIZE(kMonitored); ++i) ovsdb_idl_add_column(db->idl, kMonitored[i]);
  return db;
}

void kovs_db_close(struct kovs_db* db) {
  if (!db) return;
  ovsdb_idl_destroy(db->idl);
  free(db);
}

void kovs_db_run(struct kovs_db* db) { ovsdb_idl_run(db->idl); }

void kovs_db_wait(struct kovs_db* db) { ovsdb_idl_wait(db->idl); }

bool kovs_db_connected(const struct kovs_db* db) {
  return ovsdb_idl_is_connected(db->idl) && ovsdb_idl_has_ever_connected(db->idl);
}

unsigned kovs_db_seqno(const struct kovs_db* db) { return ovsdb_idl_get_seqno(db->idl); }

// ---- Reading ----------------------------------------------------------------------------------------

static const char* text_or_empty(const char* text) { return text ? text : ""; }

static void visit_interface(const struct kovs_db_visitor* visitor, const struct ovsrec_bridge* bridge,
                            const struct ovsrec_port* port, const struct ovsrec_interface* row) {
  size_t n = smap_count(&row->options);
  struct kovs_pair* options = xmalloc((n + 1) * sizeof *options);
  size_t i = 0;
  const struct smap_node* node;
  SMAP_FOR_EACH(node, &row->options) {
    options[i++] = (struct kovs_pair){.key = node->key, .value = node->value};
  }
  struct kovs_db_interface interface = {
      .bridge = bridge->name,
      .port = port->name,
      .port_owner = smap_get_def(&port->external_ids, kOwnerKey, ""),
      .name = row->name,
      .type = row->type,
      .iface_id = smap_get_def(&row->external_ids, "iface-id", ""),
      .error = text_or_empty(row->error),
      .has_ofport = row->n_ofport > 0,
      .ofport = row->n_ofport > 0 ? row->ofport[0] : 0,
      .options = options,
      .n_options = n,
  };
  visitor->interface(visitor->aux, &interface);
  free(options);
}

static void visit_bridge(const struct kovs_db_visitor* visitor, const struct ovsrec_bridge* row) {
  struct kovs_db_bridge bridge = {
      .name = row->name,
      .datapath_type = row->datapath_type,
      .fail_mode = text_or_empty(row->fail_mode),
      .protocols = (const char* const*)row->protocols,
      .n_protocols = row->n_protocols,
  };
  visitor->bridge(visitor->aux, &bridge);
  for (size_t i = 0; i < row->n_ports; ++i) {
    const struct ovsrec_port* port = row->ports[i];
    for (size_t j = 0; j < port->n_interfaces; ++j) {
      visit_interface(visitor, row, port, port->interfaces[j]);
    }
  }
}

void kovs_db_visit(const struct kovs_db* db, const struct kovs_db_visitor* visitor) {
  const struct ovsrec_open_vswitch* row = ovsrec_open_vswitch_first(db->idl);
  if (!row) return;
  struct kovs_db_root root = {
      .ovs_version = text_or_empty(row->ovs_version),
      .datapath_types = (const char* const*)row->datapath_types,
      .n_datapath_types = row->n_datapath_types,
      .iface_types = (const char* const*)row->iface_types,
      .n_iface_types = row->n_iface_types,
  };
  visitor->root(visitor->aux, &root);
  for (size_t i = 0; i < row->n_bridges; ++i) visit_bridge(visitor, row->bridges[i]);
}

// ---- Writing ----------------------------------------------------------------------------------------

static const struct ovsrec_bridge* find_bridge(struct ovsdb_idl* idl, const char* name) {
  const struct ovsrec_bridge* row;
  OVSREC_BRIDGE_FOR_EACH(row, idl) {
    if (!strcmp(row->name, name)) return row;
  }
  return NULL;
}

static const struct ovsrec_port* find_port(const struct ovsrec_bridge* bridge, const char* name) {
  for (size_t i = 0; i < bridge->n_ports; ++i) {
    if (!strcmp(bridge->ports[i]->name, name)) return bridge->ports[i];
  }
  return NULL;
}

static void set_options(const struct ovsrec_interface* interface, const struct kovs_db_op* op) {
  struct smap options = SMAP_INITIALIZER(&options);
  for (size_t i = 0; i < op->n_options; ++i) smap_replace(&options, op->options[i].key, op->options[i].value);
  ovsrec_interface_set_type(interface, op->type);
  ovsrec_interface_set_options(interface, &options);
  smap_destroy(&options);
}

static void set_bridge(const struct ovsrec_bridge* bridge, const struct kovs_db_op* op) {
  // All versions, since an operator's ovs-ofctl speaks 1.0 unless told otherwise.
  const char* protocols[] = {"OpenFlow10", "OpenFlow11", "OpenFlow12",
                             "OpenFlow13", "OpenFlow14", "OpenFlow15"};
  ovsrec_bridge_set_datapath_type(bridge, op->datapath_type);
  ovsrec_bridge_set_fail_mode(bridge, "secure");
  ovsrec_bridge_set_protocols(bridge, protocols, ARRAY_SIZE(protocols));
}

static struct ovsrec_port* insert_port(struct ovsdb_idl_txn* txn, const char* name,
                                       struct ovsrec_interface** interface) {
  *interface = ovsrec_interface_insert(txn);
  ovsrec_interface_set_name(*interface, name);
  struct ovsrec_port* port = ovsrec_port_insert(txn);
  ovsrec_port_set_name(port, name);
  ovsrec_port_set_interfaces(port, interface, 1);
  return port;
}

static void add_bridge(struct ovsdb_idl_txn* txn, const struct ovsrec_open_vswitch* root,
                       const struct kovs_db_op* op) {
  struct ovsrec_interface* interface;
  struct ovsrec_port* port = insert_port(txn, op->bridge, &interface);
  ovsrec_interface_set_type(interface, "internal");
  struct ovsrec_bridge* bridge = ovsrec_bridge_insert(txn);
  ovsrec_bridge_set_name(bridge, op->bridge);
  ovsrec_bridge_set_ports(bridge, &port, 1);
  struct smap ids = SMAP_CONST1(&ids, kOwnerKey, op->owner);
  ovsrec_bridge_set_external_ids(bridge, &ids);
  set_bridge(bridge, op);
  ovsrec_open_vswitch_update_bridges_addvalue(root, bridge);
}

static void add_port(struct ovsdb_idl_txn* txn, const struct ovsrec_bridge* bridge,
                     const struct kovs_db_op* op) {
  struct ovsrec_interface* interface;
  struct ovsrec_port* port = insert_port(txn, op->port, &interface);
  set_options(interface, op);
  struct smap ids = SMAP_CONST1(&ids, kOwnerKey, op->owner);
  ovsrec_port_set_external_ids(port, &ids);
  ovsrec_bridge_update_ports_addvalue(bridge, port);
}

// Returns NULL or an error text.
static char* apply_op(struct kovs_db* db, struct ovsdb_idl_txn* txn, const struct kovs_db_op* op) {
  const struct ovsrec_open_vswitch* root = ovsrec_open_vswitch_first(db->idl);
  if (!root) return xstrdup("the database has no Open_vSwitch row");
  if (op->kind == KOVS_DB_ADD_BRIDGE) {
    add_bridge(txn, root, op);
    return NULL;
  }
  const struct ovsrec_bridge* bridge = find_bridge(db->idl, op->bridge);
  if (!bridge) return xasprintf("bridge %s is gone", op->bridge);
  if (op->kind == KOVS_DB_SET_BRIDGE) {
    set_bridge(bridge, op);
    return NULL;
  }
  if (op->kind == KOVS_DB_ADD_PORT) {
    add_port(txn, bridge, op);
    return NULL;
  }
  const struct ovsrec_port* port = find_port(bridge, op->port);
  if (!port || !port->n_interfaces) return xasprintf("port %s is gone", op->port);
  if (op->kind == KOVS_DB_SET_OPTIONS) {
    set_options(port->interfaces[0], op);
  } else {
    ovsrec_bridge_update_ports_delvalue(bridge, port);
  }
  return NULL;
}

static bool commit(struct kovs_db* db, struct ovsdb_idl_txn* txn, long long until, char** error) {
  for (;;) {
    enum ovsdb_idl_txn_status status = ovsdb_idl_txn_commit(txn);
    if (status == TXN_SUCCESS || status == TXN_UNCHANGED) return true;
    if (status != TXN_INCOMPLETE) {
      const char* reason = ovsdb_idl_txn_get_error(txn);
      *error = xstrdup(reason ? reason : ovsdb_idl_txn_status_to_string(status));
      return false;
    }
    if (time_msec() >= until) {
      ovsdb_idl_txn_abort(txn);
      *error = xstrdup("no answer from the database in time");
      return false;
    }
    ovsdb_idl_run(db->idl);
    ovsdb_idl_wait(db->idl);
    ovsdb_idl_txn_wait(txn);
    poll_timer_wait_until(until);
    poll_block();
  }
}

bool kovs_db_transact(struct kovs_db* db, const struct kovs_db_op* ops, size_t n, int deadline_ms,
                      char** error) {
  long long until = time_msec() + deadline_ms;
  struct ovsdb_idl_txn* txn = ovsdb_idl_txn_create(db->idl);
  ovsdb_idl_txn_add_comment(txn, "kasaned");
  *error = NULL;
  for (size_t i = 0; i < n && !*error; ++i) *error = apply_op(db, txn, &ops[i]);
  bool ok = !*error && commit(db, txn, until, error);
  ovsdb_idl_txn_destroy(txn);
  return ok;
}
