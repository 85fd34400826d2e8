#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "jsonrpc.h"
#include "openvswitch/json.h"
#include "openvswitch/poll-loop.h"
#include "timeval.h"
#include "unixctl.h"
#include "util.h"
#include "vswitch/ovs/shim/ovs_shim.h"

// Receives the answer to what was sent. Returns 0 or an errno value, EOF or ETIMEDOUT.
static int receive(struct jsonrpc* client, long long until, struct jsonrpc_msg** answer) {
  for (;;) {
    jsonrpc_run(client);
    int code = jsonrpc_recv(client, answer);
    if (code != EAGAIN) return code;
    if (time_msec() >= until) return ETIMEDOUT;
    jsonrpc_wait(client);
    jsonrpc_recv_wait(client);
    poll_timer_wait_until(until);
    poll_block();
  }
}

static struct jsonrpc_msg* make_request(const char* command, const char* const* args, size_t n_args) {
  struct json** params = xmalloc((n_args + 1) * sizeof *params);
  for (size_t i = 0; i < n_args; ++i) params[i] = json_string_create(args[i]);
  return jsonrpc_create_request(command, json_array_create(params, n_args), NULL);
}

// Takes the texts out of `answer`.
static bool read_answer(const struct jsonrpc_msg* answer, char** reply, char** error) {
  if (answer->type == JSONRPC_REPLY && answer->result && answer->result->type == JSON_STRING) {
    *reply = xstrdup(json_string(answer->result));
    return true;
  }
  bool told = answer->type == JSONRPC_ERROR && answer->error && answer->error->type == JSON_STRING;
  *error = xstrdup(told ? json_string(answer->error) : "an answer that this program does not understand");
  return false;
}

bool kovs_unixctl(const char* socket_path, const char* command, const char* const* args, size_t n_args,
                  int deadline_ms, char** reply, char** error) {
  kovs_init();
  long long until = time_msec() + deadline_ms;
  struct jsonrpc* client;
  int code = unixctl_client_create(socket_path, &client);
  if (code) {
    *error = xasprintf("%s: %s", socket_path, ovs_strerror(code));
    return false;
  }
  struct jsonrpc_msg* answer = NULL;
  code = jsonrpc_send(client, make_request(command, args, n_args));
  if (!code) code = receive(client, until, &answer);
  bool ok = !code && read_answer(answer, reply, error);
  if (code) *error = xasprintf("%s: %s", socket_path, code == EOF ? "closed" : ovs_strerror(code));
  jsonrpc_msg_destroy(answer);
  jsonrpc_close(client);
  return ok;
}
