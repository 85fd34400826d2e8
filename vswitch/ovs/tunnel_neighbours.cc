#include "vswitch/ovs/tunnel_neighbours.h"

#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "base/status.h"
#include "vswitch/ovs/shim/ovs_shim.h"
#include "vswitch/ovs/shim/shim_text.h"

namespace kasane::ovs {
namespace {

constexpr int kAnswerMs = 3'000;  // For an answer of ovs-vswitchd.

class TunnelNeighbours : public underlay::NeighbourCache {
 public:
  explicit TunnelNeighbours(std::string run_dir) : run_dir_(std::move(run_dir)) {}

  absl::Status Set(const std::string& link, const IpAddress& address, const MacAddress& mac) override {
    return Command("tnl/neigh/set", {link, address.ToString(), mac.ToString()}).status();
  }

  absl::StatusOr<underlay::CachedNeighbours> Show() override {
    ASSIGN_OR_RETURN(const std::string text, Command("tnl/neigh/show", {}));
    return ParseTunnelNeighbours(text);
  }

 private:
  absl::StatusOr<std::string> Command(const std::string& command, const std::vector<std::string>& args) const {
    const std::string pid_file = run_dir_ + "/ovs-vswitchd.pid";
    std::ifstream in(pid_file);
    long pid = 0;
    if (!(in >> pid)) {
      return Error(absl::StatusCode::kUnavailable, "cannot read {}: is ovs-vswitchd running?", pid_file);
    }
    std::vector<const char*> argv;
    argv.reserve(args.size());
    for (const std::string& arg : args) argv.push_back(arg.c_str());
    ShimText reply;
    ShimText error;
    if (!kovs_unixctl(fmt::format("{}/ovs-vswitchd.{}.ctl", run_dir_, pid).c_str(), command.c_str(),
                      argv.data(), argv.size(), kAnswerMs, reply.out(), error.out())) {
      return Error(absl::StatusCode::kUnavailable, "ovs-vswitchd: {}: {}", command, error.str());
    }
    return reply.str();
  }

  const std::string run_dir_;
};

}  // namespace

std::unique_ptr<underlay::NeighbourCache> NewTunnelNeighbours(std::string run_dir) {
  return std::make_unique<TunnelNeighbours>(std::move(run_dir));
}

underlay::CachedNeighbours ParseTunnelNeighbours(std::string_view text) {
  underlay::CachedNeighbours neighbours;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string ip;
    std::string mac;
    std::string bridge;
    std::string flag;
    words >> ip >> mac >> bridge >> flag;
    const absl::StatusOr<IpAddress> address = IpAddress::Parse(ip);
    const absl::StatusOr<MacAddress> parsed = MacAddress::Parse(mac);
    // The two header lines parse as neither.
    if (address.ok() && parsed.ok() && !bridge.empty() && flag.empty())
      neighbours[{bridge, *address}] = *parsed;
  }
  return neighbours;
}

}  // namespace kasane::ovs
