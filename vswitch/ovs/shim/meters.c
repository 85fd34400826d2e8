#include <config.h>

#include <errno.h>

#include "openvswitch/ofp-errors.h"

#include "openvswitch/ofp-meter.h"
#include "util.h"
#include "vswitch/ovs/shim/openflow_connection.h"

static struct ofpbuf* encode_set(const struct kovs_meter* meter, bool exists) {
  struct ofputil_meter_band band = {.type = OFPMBT13_DROP, .rate = meter->rate, .burst_size = meter->burst};
  struct ofputil_meter_mod mod = {.command = exists ? OFPMC13_MODIFY : OFPMC13_ADD,
                                  .meter = {.meter_id = meter->id,
                                            .flags = OFPMF13_PKTPS | OFPMF13_BURST | OFPMF13_STATS,
                                            .n_bands = 1,
                                            .bands = &band}};
  return ofputil_encode_meter_mod(kovs_version, &mod);
}

static struct ofpbuf* encode_delete(uint32_t id) {
  struct ofputil_meter_mod mod = {.command = OFPMC13_DELETE, .meter = {.meter_id = id}};
  return ofputil_encode_meter_mod(kovs_version, &mod);
}

enum kovs_commit_result kovs_of_set_meter(struct kovs_of* of, const struct kovs_meter* meter, int deadline_ms,
                                          char** error) {
  kovs_start(of, deadline_ms);
  struct ovs_list errors = OVS_LIST_INITIALIZER(&errors);
  struct ofpbuf* message = meter->change == KOVS_METER_DELETE
                               ? encode_delete(meter->id)
                               : encode_set(meter, meter->change == KOVS_METER_MODIFY);
  int code = kovs_send(of, message, &errors);
  if (!code) code = kovs_barrier(of, &errors);
  enum kovs_commit_result result = KOVS_COMMITTED;
  if (code) {
    kovs_fail(error, "setting a meter", code);
    result = KOVS_BROKEN;
  } else if (!ovs_list_is_empty(&errors)) {
    *error = kovs_describe_error(ofpbuf_from_list(ovs_list_front(&errors)));
    result = KOVS_REFUSED;
  }
  ofpbuf_list_delete(&errors);
  return result;
}

bool kovs_of_max_meters(struct kovs_of* of, int deadline_ms, uint32_t* max, char** error) {
  kovs_start(of, deadline_ms);
  struct ofpbuf* reply;
  int code =
      kovs_transact(of, ofputil_encode_meter_request(kovs_version, OFPUTIL_METER_FEATURES, 0), NULL, &reply);
  if (!code && !kovs_is_type(reply, OFPTYPE_METER_FEATURES_STATS_REPLY)) code = EPROTO;
  if (!code) {
    struct ofputil_meter_features features;
    ofputil_decode_meter_features(reply->data, &features);
    *max = features.max_meters;
  }
  ofpbuf_delete(reply);
  return !code || kovs_fail(error, "asking for the switch's meters", code);
}

struct meter_report {
  kovs_meter_cb* callback;
  void* aux;
  struct ofpbuf bands;
};

static int report_configs(void* aux, struct ofpbuf* part) {
  struct meter_report* report = aux;
  for (;;) {
    struct ofputil_meter_config config;
    int code = ofputil_decode_meter_config(part, &config, &report->bands);
    if (code) return code == EOF ? 0 : EPROTO;
    // The switch's own: of its slow path and its controllers.
    if (config.meter_id > OFPM13_MAX) continue;
    bool ours = config.n_bands == 1 && (config.flags & OFPMF13_PKTPS);
    struct kovs_dumped_meter meter = {.id = config.meter_id,
                                      .rate = ours ? config.bands[0].rate : 0,
                                      .burst = ours ? config.bands[0].burst_size : 0};
    report->callback(report->aux, &meter);
  }
}

static int report_stats(void* aux, struct ofpbuf* part) {
  struct meter_report* report = aux;
  for (;;) {
    struct ofputil_meter_stats stats;
    int code = ofputil_decode_meter_stats(part, &stats, &report->bands);
    if (code) return code == EOF ? 0 : EPROTO;
    struct kovs_dumped_meter meter = {.id = stats.meter_id};
    for (int i = 0; i < stats.n_bands; ++i) meter.dropped += stats.bands[i].packet_count;
    report->callback(report->aux, &meter);
  }
}

bool kovs_of_dump_meters(struct kovs_of* of, bool counters, int deadline_ms, kovs_meter_cb* callback, void* aux,
                         char** error) {
  kovs_start(of, deadline_ms);
  struct meter_report report = {callback, aux, {0}};
  ofpbuf_init(&report.bands, 0);
  struct ofpbuf* request = ofputil_encode_meter_request(
      kovs_version, counters ? OFPUTIL_METER_STATS : OFPUTIL_METER_CONFIG, OFPM13_ALL);
  int code = counters ? kovs_multipart(of, request, OFPTYPE_METER_STATS_REPLY, report_stats, &report)
                      : kovs_multipart(of, request, OFPTYPE_METER_CONFIG_STATS_REPLY, report_configs, &report);
  ofpbuf_uninit(&report.bands);
  return !code || kovs_fail(error, "reading the switch's meters", code);
}
