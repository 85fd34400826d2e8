#include "agent/datapaths.h"

#include <map>
#include <string>
#include <utility>

#include "base/status.h"
#include "vswitch/ovs/ovs_datapath.h"

namespace kasane::agent {
namespace {

using OnEvent = std::function<void()>;
using OnAnnouncement = std::function<void(const slowpath::Announcement&)>;
using Datapath = absl::StatusOr<std::unique_ptr<vswitch::Datapath>>;

Datapath OpenOvs(const AgentConfig& config, OnEvent on_event, OnAnnouncement on_announcement) {
  ovs::OvsConfig ovs;
  ovs.run_dir = config.datapath.ovs_run_dir;
  ovs.bridge = config.datapath.bridge;
  if (config.datapath.datapath_type != "auto") ovs.datapath_type = config.datapath.datapath_type;
  ovs.tunnel_addresses = config.tunnel_addresses;
  ovs.replication_limit.reset();
  if (const uint32_t rate = config.datapath.replication_rate; rate != 0) {
    ovs.replication_limit = ovs::MeterRate{.rate = rate, .burst = rate};
  }
  return ovs::OvsDatapath::Create(ovs, std::move(on_event), std::move(on_announcement));
}

const std::map<std::string, Datapath (*)(const AgentConfig&, OnEvent, OnAnnouncement)> kDatapaths = {
    {"ovs", OpenOvs},
};

}  // namespace

Datapath OpenDatapath(const AgentConfig& config, OnEvent on_event, OnAnnouncement on_announcement) {
  const auto open = kDatapaths.find(config.datapath.type);
  if (open == kDatapaths.end()) {
    return Invalid("datapath.type {} is not in this program; it has ovs", config.datapath.type);
  }
  return open->second(config, std::move(on_event), std::move(on_announcement));
}

}  // namespace kasane::agent
