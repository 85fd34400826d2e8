// The meaning of the configuration: entries into values.
#include "agent/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/ip_address.h"
#include "base/status.h"

namespace kasane::agent {
namespace {

constexpr size_t kMaxHostId = 255;
constexpr size_t kMaxSocketPath = 107;  // sockaddr_un::sun_path less the final zero.
constexpr size_t kMaxBridge = 15;       // IFNAMSIZ less the final zero.
constexpr uint32_t kMaxReplicationRate = 10'000'000;

class ConfigValidator {
 public:
  ConfigValidator(const ConfigEntries& entries, std::vector<ConfigFault>& faults)
      : entries_(entries), faults_(faults) {}

  std::string Text(std::string_view key) const {
    auto entry = entries_.find(std::string(key));
    if (entry != entries_.end() && !entry->second.values.empty()) return entry->second.values.front();
    for (const ConfigKey& known : ConfigKeys()) {
      if (known.name == key) return std::string(known.default_value);
    }
    return "";
  }

  std::vector<std::string> List(std::string_view key) const {
    auto entry = entries_.find(std::string(key));
    return entry == entries_.end() ? std::vector<std::string>() : entry->second.values;
  }

  template <typename... Args>
  void Fail(std::string_view key, fmt::format_string<Args...> format, Args&&... args) {
    auto entry = entries_.find(std::string(key));
    faults_.push_back({entry == entries_.end() ? "" : entry->second.where, std::string(key),
                       fmt::format(format, std::forward<Args>(args)...)});
  }

  bool Bool(std::string_view key) {
    const std::string text = Text(key);
    for (const char* yes : {"true", "yes", "on"}) {
      if (text == yes) return true;
    }
    for (const char* no : {"false", "no", "off"}) {
      if (text == no) return false;
    }
    Fail(key, "\"{}\" is neither true nor false", text);
    return false;
  }

  std::string OneOf(std::string_view key, std::initializer_list<std::string_view> choices) {
    std::string text = Text(key);
    if (std::ranges::find(choices, text) == choices.end()) {
      Fail(key, "\"{}\" is none of {}", text, fmt::join(choices, ", "));
    }
    return text;
  }

  // 0 to `max`.
  uint32_t Number(std::string_view key, uint32_t max) {
    const std::string text = Text(key);
    uint32_t number = 0;
    const std::from_chars_result end = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end.ec != std::errc() || end.ptr != text.data() + text.size() || number > max) {
      Fail(key, "\"{}\" is not a number from 0 to {}", text, max);
    }
    return number;
  }

  std::string AbsolutePath(std::string_view key) {
    std::string text = Text(key);
    if (!text.starts_with('/')) Fail(key, "\"{}\" is no absolute path: it must begin with /", text);
    return text;
  }

 private:
  const ConfigEntries& entries_;
  std::vector<ConfigFault>& faults_;
};

bool IsPlain(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

HostId ValidateHostId(ConfigValidator& validator, const std::string& host_name) {
  std::string text = validator.Text("host_id");
  if (text.empty()) text = host_name;
  if (text.empty()) {
    validator.Fail("host_id", "is missing, and this machine has no host name: set it");
  } else if (text.size() > kMaxHostId || !IsPlain(text)) {
    validator.Fail("host_id", "must be 1 to {} printable ASCII characters without spaces", kMaxHostId);
  }
  return HostId(text);
}

struct Endpoint {
  std::string host;  // Without brackets.
  uint16_t port = 0;
  std::optional<IpAddress> address;  // Absent: a name.
};

std::optional<Endpoint> ParseEndpoint(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  Endpoint endpoint;
  const std::string_view port = text.substr(colon + 1);
  const std::from_chars_result end = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  if (end.ec != std::errc() || end.ptr != port.data() + port.size() || endpoint.port == 0) return std::nullopt;

  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (absl::StatusOr<IpAddress> address = IpAddress::Parse(host); address.ok()) {
    if (address->is_v6() != bracketed) return std::nullopt;
    endpoint.address = *address;
  } else if (bracketed || host.empty() || host.size() > 253 ||
             !std::ranges::all_of(host,
                                  [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '-'; }) ||
             std::ranges::all_of(host, [](unsigned char c) { return std::isdigit(c) || c == '.'; })) {
    return std::nullopt;
  }
  endpoint.host = std::string(host);
  return endpoint;
}

std::string TargetOf(const Endpoint& endpoint) {
  if (!endpoint.address) return fmt::format("dns:{}:{}", endpoint.host, endpoint.port);
  return endpoint.address->is_v4() ? fmt::format("ipv4:{}:{}", endpoint.host, endpoint.port)
                                   : fmt::format("ipv6:[{}]:{}", endpoint.host, endpoint.port);
}

void ValidateController(ConfigValidator& validator, AgentConfig& config) {
  config.controller = validator.Text("controller");
  config.insecure = validator.Bool("insecure");
  const std::optional<Endpoint> endpoint = ParseEndpoint(config.controller);
  if (!endpoint) {
    validator.Fail("controller",
                   "\"{}\" is not ADDRESS:PORT, as in 192.0.2.1:6650, [2001:db8::1]:6650 or name:6650",
                   config.controller);
    return;
  }
  const bool loopback = endpoint->address ? endpoint->address->IsLoopback() : endpoint->host == "localhost";
  if (!loopback && !config.insecure) {
    validator.Fail(
        "controller",
        "{} is not on this machine, and this version has no mutual TLS yet: everyone on the way could "
        "read and change the network state. Where that is acceptable set insecure: true (--insecure)",
        config.controller);
  }
  config.controller_target = TargetOf(*endpoint);
}

vswitch::TunnelAddresses ValidateTunnelAddresses(ConfigValidator& validator) {
  vswitch::TunnelAddresses addresses;
  const std::vector<std::string> texts = validator.List("tunnel_addresses");
  if (texts.empty()) {
    validator.Fail("tunnel_addresses",
                   "is missing: give the address that this host has on the underlay, as in [192.0.2.11]");
  }
  for (const std::string& text : texts) {
    absl::StatusOr<IpAddress> address = IpAddress::Parse(text);
    if (!address.ok()) {
      validator.Fail("tunnel_addresses", "{}", Message(address.status()));
    } else if (address->IsUnspecified() || address->IsLoopback() || address->IsMulticast() ||
               address->IsLinkLocal()) {
      validator.Fail("tunnel_addresses",
                     "{} is unspecified, loopback, multicast or link-local: other hosts cannot "
                     "send tunnel packets to it",
                     *address);
    } else if (std::optional<IpAddress>& slot = address->is_v4() ? addresses.v4 : addresses.v6; slot) {
      validator.Fail("tunnel_addresses", "{} and {} are of one family: at most one of each", *slot, *address);
    } else {
      slot = *address;
    }
  }
  return addresses;
}

AgentConfig::Datapath ValidateDatapath(ConfigValidator& validator) {
  AgentConfig::Datapath datapath;
  datapath.type = validator.OneOf("datapath.type", {"ovs"});
  datapath.ovs_run_dir = validator.AbsolutePath("datapath.ovs_run_dir");
  datapath.bridge = validator.Text("datapath.bridge");
  if (datapath.bridge.empty() || datapath.bridge.size() > kMaxBridge || !IsPlain(datapath.bridge) ||
      datapath.bridge.find('/') != std::string::npos) {
    validator.Fail("datapath.bridge", "must be 1 to {} printable characters without spaces and /", kMaxBridge);
  }
  datapath.datapath_type = validator.OneOf("datapath.datapath_type", {"auto", "netdev", "system"});
  datapath.replication_rate = validator.Number("datapath.replication_rate", kMaxReplicationRate);
  return datapath;
}

log::Options ValidateLog(ConfigValidator& validator) {
  log::Options options;
  const std::string level = validator.OneOf("log.level", {"debug", "info", "warning", "error"});
  options.level = level == "debug"     ? log::Level::kDebug
                  : level == "warning" ? log::Level::kWarning
                  : level == "error"   ? log::Level::kError
                                       : log::Level::kInfo;
  options.format =
      validator.OneOf("log.format", {"text", "json"}) == "json" ? log::Format::kJson : log::Format::kText;
  if (!validator.Text("log.file").empty()) options.file = validator.AbsolutePath("log.file");
  return options;
}

}  // namespace

AgentConfig ValidateConfig(const ConfigEntries& entries, const std::string& host_name,
                           std::vector<ConfigFault>& faults) {
  ConfigValidator validator(entries, faults);
  AgentConfig config;
  config.host_id = ValidateHostId(validator, host_name);
  ValidateController(validator, config);
  config.tunnel_addresses = ValidateTunnelAddresses(validator);
  config.admin_socket = validator.AbsolutePath("admin_socket");
  if (config.admin_socket.size() > kMaxSocketPath) {
    validator.Fail("admin_socket", "has more than {} bytes, the limit of a Unix socket's path", kMaxSocketPath);
  }
  config.state_dir = validator.AbsolutePath("state_dir");
  config.datapath = ValidateDatapath(validator);
  config.log = ValidateLog(validator);
  return config;
}

}  // namespace kasane::agent
