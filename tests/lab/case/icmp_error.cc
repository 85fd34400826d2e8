#include "tests/lab/case/icmp_error.h"

#include <algorithm>
#include <cctype>

#include "base/status.h"

namespace kasane::lab {
namespace {

struct Name {
  IpFamily family;
  uint8_t type;
  uint8_t code;
  std::string_view text;
};

// RFC 792 and 1812; RFC 4443.
constexpr Name kNames[] = {
    {IpFamily::kV4, 3, 0, "net_unreachable"},
    {IpFamily::kV4, 3, 1, "host_unreachable"},
    {IpFamily::kV4, 3, 3, "port_unreachable"},
    {IpFamily::kV4, 3, 4, "frag_needed"},
    {IpFamily::kV4, 11, 0, "ttl_exceeded"},
    {IpFamily::kV6, 1, 0, "no_route"},
    {IpFamily::kV6, 1, 3, "address_unreachable"},
    {IpFamily::kV6, 1, 4, "port_unreachable"},
    {IpFamily::kV6, 2, 0, "too_big"},
    {IpFamily::kV6, 3, 0, "ttl_exceeded"},
};

}  // namespace

absl::Status CheckIcmpErrorText(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(' '));
  const std::string_view mtu = name.size() == text.size() ? "" : text.substr(name.size() + 1);
  const bool has_mtu = name == "frag_needed" || name == "too_big";
  const bool digits =
      !mtu.empty() && std::all_of(mtu.begin(), mtu.end(), [](char c) { return c >= '0' && c <= '9'; });
  const bool known =
      std::any_of(std::begin(kNames), std::end(kNames), [&](const Name& n) { return n.text == name; });
  if (known && (has_mtu ? digits : mtu.empty())) return absl::OkStatus();
  return Invalid(
      "\"{}\" is no ICMP error; expected ttl_exceeded, frag_needed MTU, too_big MTU (IPv6), net_unreachable, "
      "host_unreachable, port_unreachable, no_route (IPv6) or address_unreachable (IPv6)",
      std::string(text));
}

std::string IcmpErrorText(IpFamily family, uint8_t type, uint8_t code, uint32_t info) {
  for (const Name& name : kNames) {
    if (name.family != family || name.type != type || name.code != code) continue;
    if (name.text == "frag_needed") return fmt::format("frag_needed {}", info & 0xffff);
    if (name.text == "too_big") return fmt::format("too_big {}", info);
    return std::string(name.text);
  }
  const bool is_error =
      family == IpFamily::kV6 ? type < 128 : type == 3 || type == 4 || type == 11 || type == 12;
  return is_error ? fmt::format("icmp {}/{}", type, code) : "";
}

}  // namespace kasane::lab
