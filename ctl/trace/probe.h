// From packet text (vswitch/packet/packet_text.h) to the frame that a VM would send: what is left out is filled
// in as the VM's own stack would, from what the agent of its host knows.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kasane::v1 {
class ListPortsResponse;
class ListRoutersResponse;
class LocalPort;
class ResolveResponse;
class ResolveRequest;
}  // namespace kasane::v1

namespace kasane::ctl {

struct Probe {
  std::string port_id;
  std::vector<uint8_t> frame;
  std::string text;  // Where the destination MAC comes from, for people. Empty: as given.
};

using Resolver = std::function<absl::StatusOr<v1::ResolveResponse>(const v1::ResolveRequest&)>;

// The local port that `text` names: its id, name, or the beginning of the id (4 characters or more). NOT_FOUND;
// FAILED_PRECONDITION, with the candidates, if it is several.
absl::StatusOr<v1::LocalPort> FindLocalPort(const v1::ListPortsResponse& ports, const std::string& text);

// `packet` is packet text in which the port's addresses, the next hop's MAC and the like may be left out, or an
// address alone: an echo request to it.
absl::StatusOr<Probe> PlanProbe(const std::string& port, std::string_view packet,
                                const v1::ListPortsResponse& ports, const v1::ListRoutersResponse& routers,
                                const Resolver& resolve);

}  // namespace kasane::ctl
