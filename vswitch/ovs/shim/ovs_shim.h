// The one place that includes headers of Open vSwitch (some are not valid C++): a small C API over
// libopenvswitch's OpenFlow connections, OVSDB replica, control sockets and poll loop.
//
// Errors: functions with an `error` argument put a text there on failure, for kovs_free(). Deadlines are
// in milliseconds from the call; those of OpenFlow functions start anew with every message that the switch
// takes or sends, so that they do not depend on the number of flows. Strings passed to callbacks are valid
// during the callback only.
// Threads: different objects may be used from different threads, one object from one at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Process ----------------------------------------------------------------------------------------

// Prepares libopenvswitch: its logging off, its signal handlers undone, SIGPIPE ignored if it was at its
// default. Every function that opens something calls it. Any thread, any number of times.
void kovs_init(void);

void kovs_free(void* text);  // NULL is allowed.

// ---- Poll loop of the calling thread ----------------------------------------------------------------

void kovs_poll_fd(int fd);  // Wake when `fd` is readable.
void kovs_poll_timer(int delay_ms);
void kovs_poll_block(void);  // Until the first of what was asked for since the last call.
int64_t kovs_now_ms(void);   // Monotonic, as of now.

// ---- OpenFlow 1.5 -----------------------------------------------------------------------------------

struct kovs_of;

// Connects to a bridge's management socket. NULL on failure.
struct kovs_of* kovs_of_open(const char* socket_path, int deadline_ms, char** error);
void kovs_of_close(struct kovs_of* of);  // NULL is allowed.

// Handles what the switch sent unasked. False once the connection is gone.
bool kovs_of_run(struct kovs_of* of);
void kovs_of_wait(struct kovs_of* of);  // Wake the poll loop when kovs_of_run() has something to do.

struct kovs_port {
  uint32_t number;
  const char* name;  // Cut at 15 characters, as OpenFlow does.
  bool down;         // Its device is, if it has one, or it was set down.
  bool muted;        // OpenFlow settings keep it from receiving or sending.
};

// The switch's ports.
typedef void kovs_port_cb(void* aux, const struct kovs_port* port);
bool kovs_of_ports(struct kovs_of* of, int deadline_ms, kovs_port_cb* callback, void* aux, char** error);
// Undoes the settings that mute a port and, if asked to, sets it up.
bool kovs_of_enable_port(struct kovs_of* of, uint32_t number, bool up, int deadline_ms, char** error);

struct kovs_flow {
  bool remove;          // Delete strictly: key only.
  bool reset_counters;  // Of a flow that is replaced; else it keeps them.
  uint8_t table;
  uint16_t priority;
  uint64_t cookie;
  const char* match;    // ovs-fields(7)
  const char* actions;  // ovs-actions(7)
};

enum kovs_commit_result {
  KOVS_COMMITTED,  // And acknowledged.
  KOVS_REFUSED,    // Nothing changed. *failed is the index of the flow, *error why.
  KOVS_BROKEN,     // The connection is of no more use; whether anything changed is unknown.
};

// All flows in order in one atomic bundle. `*failed` is `n` if the bundle as a whole was refused.
enum kovs_commit_result kovs_of_commit(struct kovs_of* of, const struct kovs_flow* flows, size_t n,
                                       int deadline_ms, size_t* failed, char** error);

struct kovs_dumped_flow {
  uint8_t table;
  uint16_t priority;
  uint64_t cookie;
  const char* match;
  const char* actions;
  uint64_t packets;
  uint64_t bytes;
};

typedef void kovs_flow_cb(void* aux, const struct kovs_dumped_flow* flow);
bool kovs_of_dump(struct kovs_of* of, int deadline_ms, kovs_flow_cb* callback, void* aux, char** error);

// Calls back with the flow as a dump would show it (packets and bytes 0).
bool kovs_canonical(const struct kovs_flow* flow, kovs_flow_cb* callback, void* aux, char** error);

// What others changed in the switch's flows. What this connection changes is not told.
struct kovs_flow_changes {
  uint64_t added;
  uint64_t deleted;
  uint64_t modified;
  char first[256];  // The first of them, as a dump would show its table, priority and match.
};

// Asks to be told of the changes that others make, but for those in one table.
bool kovs_of_watch_flows(struct kovs_of* of, uint8_t except_table, int deadline_ms, char** error);
// Those that came since the last call. Reads nothing: kovs_of_run() does, as does every call that waits.
struct kovs_flow_changes kovs_of_take_changes(struct kovs_of* of);

// A meter with one band, which drops what comes faster than `rate` packets a second after `burst` at once.
enum kovs_meter_change { KOVS_METER_ADD, KOVS_METER_MODIFY, KOVS_METER_DELETE };
struct kovs_meter {
  enum kovs_meter_change change;
  uint32_t id;
  uint32_t rate;
  uint32_t burst;
};

// Returns once the switch has done it. KOVS_REFUSED: nothing changed.
enum kovs_commit_result kovs_of_set_meter(struct kovs_of* of, const struct kovs_meter* meter, int deadline_ms,
                                          char** error);

// Adds a group, or makes it what `group` says: ovs-ofctl(8) text without the number. Returns once the switch
// has done it. KOVS_REFUSED: nothing changed.
enum kovs_commit_result kovs_of_set_group(struct kovs_of* of, uint32_t id, const char* group, int deadline_ms,
                                          char** error);

// What a group is, in the switch's own spelling and without its number.
typedef void kovs_group_cb(void* aux, uint32_t id, const char* group);
bool kovs_of_dump_groups(struct kovs_of* of, int deadline_ms, kovs_group_cb* callback, void* aux, char** error);

// Calls back with the group as a dump would show it.
bool kovs_canonical_group(uint32_t id, const char* group, kovs_group_cb* callback, void* aux, char** error);

// How many meters the switch can have: 0 if it has none.
bool kovs_of_max_meters(struct kovs_of* of, int deadline_ms, uint32_t* max, char** error);

struct kovs_dumped_meter {
  uint32_t id;
  uint32_t rate;  // With `counters`, 0; also of a meter that is not of this form.
  uint32_t burst;
  uint64_t dropped;  // Packets; only with `counters`.
};

typedef void kovs_meter_cb(void* aux, const struct kovs_dumped_meter* meter);
bool kovs_of_dump_meters(struct kovs_of* of, bool counters, int deadline_ms, kovs_meter_cb* callback, void* aux,
                         char** error);

// ---- Packets to and from the agent, over an OpenFlow connection of their own ---------------------------

struct kovs_packets;

struct kovs_packet_in {
  const void* frame;
  size_t size;
  const void* userdata;  // Of the controller action.
  size_t userdata_size;
  uint32_t in_port;
  uint64_t metadata;
  uint32_t registers[12];  // reg0 to reg11.
  uint64_t tunnel_id;
  uint32_t tunnel_source_v4;  // Host order. 0: none.
  uint8_t tunnel_source_v6[16];
};

typedef void kovs_packet_cb(void* aux, const struct kovs_packet_in* packet);

// Connects to a bridge's management socket and asks for packets. NULL on failure.
struct kovs_packets* kovs_packets_open(const char* socket_path, int deadline_ms, char** error);
void kovs_packets_close(struct kovs_packets* packets);  // NULL is allowed.

// Calls back for every packet that is there, and sends what waits. False once the connection is gone.
bool kovs_packets_run(struct kovs_packets* packets, kovs_packet_cb* callback, void* aux);
void kovs_packets_wait(struct kovs_packets* packets);  // Wake the poll loop when there is something to do.

// Has the switch perform `actions` (ovs-actions(7)) on a frame, whose in_port is CONTROLLER; sent by the next
// kovs_packets_run(). Not acknowledged. False: it was not sent, because the queue is full, or, with `*error`
// set, because `actions` cannot be read.
bool kovs_packets_send(struct kovs_packets* packets, const void* frame, size_t size, const char* actions,
                       char** error);

// ---- OVSDB ------------------------------------------------------------------------------------------

struct kovs_db;

struct kovs_db* kovs_db_open(const char* remote);  // Connects, and again whenever the server went away.
void kovs_db_close(struct kovs_db* db);
void kovs_db_run(struct kovs_db* db);
void kovs_db_wait(struct kovs_db* db);
// Connected, and the replica is complete.
bool kovs_db_connected(const struct kovs_db* db);
unsigned kovs_db_seqno(const struct kovs_db* db);  // Changes when the replica does.

struct kovs_pair {
  const char* key;
  const char* value;
};

struct kovs_db_root {
  const char* ovs_version;  // May be empty.
  const char* const* datapath_types;
  size_t n_datapath_types;
  const char* const* iface_types;
  size_t n_iface_types;
};

struct kovs_db_bridge {
  const char* name;
  const char* datapath_type;
  const char* fail_mode;  // Empty: none.
  const char* const* protocols;
  size_t n_protocols;
};

struct kovs_db_interface {
  const char* bridge;
  const char* port;
  const char* port_owner;  // external_ids:kasane-owner of the Port, or empty.
  const char* name;
  const char* type;
  const char* iface_id;  // external_ids:iface-id, or empty.
  const char* error;     // Empty: none.
  bool has_ofport;
  int64_t ofport;  // -1: the switch could not add it.
  const struct kovs_pair* options;
  size_t n_options;
};

struct kovs_db_visitor {
  void* aux;
  void (*root)(void* aux, const struct kovs_db_root* root);
  void (*bridge)(void* aux, const struct kovs_db_bridge* bridge);
  void (*interface)(void* aux, const struct kovs_db_interface* interface);
};

// Calls root() if the database has its Open_vSwitch row, then bridge() and interface() for each one.
void kovs_db_visit(const struct kovs_db* db, const struct kovs_db_visitor* visitor);

enum kovs_db_op_kind {
  KOVS_DB_ADD_BRIDGE,   // Bridge `bridge` with its LOCAL port, and as KOVS_DB_SET_BRIDGE.
  KOVS_DB_SET_BRIDGE,   // Its datapath_type, fail_mode=secure and OpenFlow 1.0 to 1.5.
  KOVS_DB_ADD_PORT,     // Port `port` on `bridge`: an interface of `type` with `options`, marked as ours.
  KOVS_DB_SET_OPTIONS,  // `type` and `options` of the interface `port`.
  KOVS_DB_DELETE_PORT,  // Port `port` of `bridge`.
};

struct kovs_db_op {
  enum kovs_db_op_kind kind;
  const char* bridge;
  const char* port;
  const char* type;
  const char* datapath_type;
  const char* owner;  // external_ids:kasane-owner of what is added.
  const struct kovs_pair* options;
  size_t n_options;
};

// All in one transaction. False: nothing changed, or the server went away meanwhile.
bool kovs_db_transact(struct kovs_db* db, const struct kovs_db_op* ops, size_t n, int deadline_ms,
                      char** error);

// ---- Control sockets --------------------------------------------------------------------------------

// Runs an ovs-appctl(8) command at a daemon's control socket; `*reply` is its output, for kovs_free().
bool kovs_unixctl(const char* socket_path, const char* command, const char* const* args, size_t n_args,
                  int deadline_ms, char** reply, char** error);

#ifdef __cplusplus
}
#endif
