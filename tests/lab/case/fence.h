// Fences: frames sent behind others on the same paths. When the fences are in, whatever went before them is in
// too, or never comes; no timer is involved.
//
// A round has two parts. On the underlay, a datagram from each host to each other one follows what is in a
// tunnel. In the networks, one VM of each network and host sends a multicast that every VM of the network sees,
// which follows what the switches hold. Each part is sent twice: a switch takes frames in batches, whose
// outputs leave port by port, so that only a second fence is surely behind.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/lab/case/world.h"
#include "tests/lab/layout.h"
#include "tests/lab/raw_socket.h"

namespace kasane::lab {

// A frame that a VM's socket saw, fences left out.
struct CapturedFrame {
  std::string vm;
  RawFrame frame;
};

class Fences {
 public:
  // `sockets` outlive it: one per VM, by its name.
  Fences(const Layout& layout, const CaseResources& resources, const std::map<std::string, RawSocket>& sockets)
      : layout_(layout), resources_(resources), sockets_(sockets) {}
  Fences(const Fences&) = delete;
  Fences& operator=(const Fences&) = delete;
  ~Fences();

  // Once the hosts have their addresses.
  absl::Status Open();

  // True: the host forwards, so that fences pass it.
  std::function<bool(const std::string& host)> forwards;

  // Reads what has arrived. What is no fence is appended to `captured`.
  absl::Status Drain(std::vector<CapturedFrame>& captured);
  // Waits for a frame at any VM, or on one of `others`, for at most `milliseconds`.
  void Wait(int milliseconds, const std::vector<int>& others = {}) const;

  // A whole round. What is captured meanwhile is appended.
  absl::Status Round(std::vector<CapturedFrame>& captured);

 private:
  using Pair = std::pair<std::string, std::string>;  // From, to.

  absl::Status Pass(bool underlay, std::vector<CapturedFrame>& captured);
  absl::Status SendUnderlay(const std::string& from, const std::string& to);
  absl::Status SendNetwork(const std::string& from);
  std::vector<Pair> UnderlayPairs() const;
  std::vector<Pair> NetworkPairs() const;
  void DrainUnderlay();
  bool TakeFence(const std::string& vm, const RawFrame& frame);
  const std::string& HostOf(const Vm& vm) const { return resources_.plan().hosts[vm.host].node; }

  const Layout& layout_;
  const CaseResources& resources_;
  const std::map<std::string, RawSocket>& sockets_;
  std::map<std::string, int> hosts_;  // A datagram socket on each VTEP address.
  uint64_t token_ = 0;
  std::map<Pair, uint64_t> arrived_;  // The newest token.
};

}  // namespace kasane::lab
