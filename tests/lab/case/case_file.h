// A case: a topology and steps, read from a YAML file. docs/cases.md is the format's description for people.
//
// Reading judges the form alone: names of VMs and hosts and the text of packets are checked when the case runs,
// against the topology of that moment.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ip_address.h"
#include "model/decode.h"
#include "model/files/resource_file.h"

namespace kasane::lab {

// Of a VXLAN header that is valid (RFC 7348, 5).
inline constexpr uint32_t kVxlanFlags = 0x08;

enum class ProbeKind : uint8_t { kPing, kUdp, kTcp };

// A question to an address, and who should answer.
struct ProbeStep {
  ProbeKind kind = ProbeKind::kPing;
  std::string from;                // VM.
  std::string to;                  // VM, port or address.
  std::optional<IpFamily> family;  // Which of a VM's addresses. Absent: IPv4 if it has one.
  uint32_t size = 56;              // Bytes behind the ICMP or UDP header. Not for TCP.
  bool df = false;                 // Don't fragment.
  uint32_t ttl = 64;
  uint32_t count = 1;
  std::string answered_by;                // VM, "router" or "nobody". Empty: with `error`, nobody.
  std::optional<std::string> error;       // "ttl_exceeded", "frag_needed 1400", ...
  std::optional<std::string> error_from;  // Address that the error comes from.
};

struct ExpectedFrame {
  int line = 0;
  std::string vm;
  std::string frame;  // Fields that must match; empty: any.
};

struct TunnelEntry {
  std::string host;    // That the packet arrives at.
  std::string source;  // Outer source: an address, or another host's name.
  uint32_t vni = 0;
  uint32_t flags = kVxlanFlags;
};

// One hand-written frame and exactly who receives what.
struct SendStep {
  std::string from;  // VM; empty: from the tunnel.
  std::optional<TunnelEntry> from_tunnel;
  std::string frame;
  uint32_t count = 1;
  std::vector<ExpectedFrame> receive;
  std::vector<ExpectedFrame> receive_one_of;  // Exactly one of these VMs receives all copies (ECMP).
  std::optional<std::string> drop;            // DropReason that must be counted.
  std::string at;                             // Host that drops; empty: any.
};

// One hand-written frame again and again, faster than its port may. What comes of it is not judged, but that
// the rest is dropped and counted.
struct StormStep {
  std::string from;  // VM.
  std::string frame;
  uint32_t count = 3000;
  uint32_t rate = 3000;  // Frames a second.
  std::string drop;
};

struct ApplyStep {
  files::ResourceFile resources;
};

struct DeleteStep {
  std::vector<model::ResourceKey> keys;
};

struct MoveStep {
  std::string port;  // VM.
  std::string to;    // Host.
};

// The VM takes an address, beside its own, and announces it as a VRRP master does; or gives it up.
struct AddressStep {
  std::string vm;
  IpAddress address;
  bool add = true;
  bool announce = true;  // Of an address that is added: by a GARP or a neighbour advertisement.
};

// kPause: it runs no more and keeps all that it has, sockets too, until kResume.
enum class ControlAction : uint8_t { kKill, kStop, kStart, kRestart, kPause, kResume };
enum class ControlTarget : uint8_t { kAgent, kOvs, kController };

// Ends or starts a daemon. A kill is a SIGKILL and leaves it ended; a restart is a stop and a start.
struct ControlStep {
  ControlAction action = ControlAction::kRestart;
  ControlTarget target = ControlTarget::kAgent;
  std::string host;  // Empty for the controller.
};

// A steady stream of probes in the background, until `end_stream` or the end of the case.
struct StreamStep {
  std::string from;
  std::string to;
  std::optional<IpFamily> family;
  uint32_t rate = 100;  // Packets a second.
  uint32_t max_lost = 0;
};

struct EndStreamStep {};
struct WaitStep {};

struct TraceStep {
  std::string from;
  std::string packet;
  std::string verdict;  // "delivered VM" or "dropped REASON".
};

using StepAction = std::variant<ProbeStep, SendStep, ApplyStep, DeleteStep, MoveStep, ControlStep, StreamStep,
                                EndStreamStep, WaitStep, TraceStep, AddressStep, StormStep>;

struct CaseStep {
  int line = 0;
  std::string name;  // The key: "ping", "send", ...
  StepAction action;
};

struct Case {
  std::string name;                    // The file's name without folder and extension.
  std::string file;                    // As given.
  std::string why;                     // The sentence.
  std::vector<std::string> datapaths;  // That it runs on: "sim", "ovs", "ovs-kernel".
  files::ResourceFile topology;
  std::string topology_file;  // Where the resources stand.
  std::vector<CaseStep> steps;
};

// Reads `text`, which came from `file`. The error names every fault, a line each: "FILE:LINE:
// steps[2].ping.from: what is wrong and what was expected".
absl::StatusOr<Case> ParseCase(const std::string& file, const std::string& text);

std::string_view Label(ProbeKind kind);
bool RunsOn(const Case& subject, std::string_view datapath);

}  // namespace kasane::lab
