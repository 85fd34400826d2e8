#include "base/mac_address.h"

#include "base/hex_digit.h"
#include "base/status.h"

namespace kasane {
absl::StatusOr<MacAddress> MacAddress::Parse(std::string_view text) {
  const auto fault = [&] { return Invalid("'{}' is not a MAC address such as fa:16:3e:00:00:01", text); };
  if (text.size() != 17) return fault();
  Bytes bytes{};
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int high = HexDigit(text[i * 3]);
    const int low = HexDigit(text[i * 3 + 1]);
    if (high < 0 || low < 0) return fault();
    if (i + 1 < bytes.size() && text[i * 3 + 2] != ':') return fault();
    bytes[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return MacAddress(bytes);
}

std::string MacAddress::ToString() const {
  return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", bytes_[0], bytes_[1], bytes_[2], bytes_[3],
                     bytes_[4], bytes_[5]);
}

}  // namespace kasane
