// From the options of `kasanectl trace` to a frame: what the user leaves out is filled in as the VM's own
// stack would, from what the agent knows.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vswitch/base/ip_address.h"

namespace kasane::v1 {
class ListPortsReply;
class ListRoutersReply;
class LocalPort;
class ResolveReply;
class ResolveRequest;
}  // namespace kasane::v1

namespace kasane::ctl {

struct ProbeOptions {
  std::string port;            // Id, unique prefix of it (4 characters or more), or name.
  std::string destination_ip;  // Empty strings: left out.
  std::string destination_mac;
  std::string source_ip;
  std::string source_mac;
  std::string protocol = "icmp";
  uint16_t source_port = 40000;
  uint16_t destination_port = 80;
  uint16_t ttl = 64;  // 0 to 255.
  size_t size = 56;   // Payload bytes.
  std::string frame;  // Hexadecimal; then nothing else is looked at but `port`.
};

struct Probe {
  std::string port_id;
  std::vector<uint8_t> frame;
  std::string text;  // Where the destination MAC comes from, for people. Empty: as given.
};

using Resolver = std::function<absl::StatusOr<v1::ResolveReply>(const v1::ResolveRequest&)>;

// The local port that `text` names. FAILED_PRECONDITION, with the candidates, if it is several.
absl::StatusOr<v1::LocalPort> FindLocalPort(const v1::ListPortsReply& ports, const std::string& text);

absl::StatusOr<Probe> PlanProbe(const ProbeOptions& options, const v1::ListPortsReply& ports,
                                const v1::ListRoutersReply& routers, const Resolver& resolve);

}  // namespace kasane::ctl
