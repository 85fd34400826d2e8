#include "tests/random/mutate.h"

#include <algorithm>
#include <array>
#include <optional>

#include "tests/random/headers.h"

namespace kasane::random {
namespace {

constexpr size_t kEthernet = 14;
constexpr size_t kVlanTag = 4 + 2;  // With what says how the frame goes on.
constexpr size_t kIpv6 = 40;

bool Truncate(frames::Bytes& frame, Random& random) {
  // A kernel takes no frame that ends within a VLAN tag, so that it never reaches the switch.
  const bool tagged = frame[12] == 0x81 && frame[13] == 0x00;
  const size_t least = tagged ? kEthernet + kVlanTag : kEthernet;
  if (frame.size() < least) return false;
  frame.resize(least + Below(random, frame.size() - least + 1));
  return true;
}

bool AddIpv4Options(frames::Bytes& frame, Random& random) {
  if (!IsIpv4(frame)) return false;
  const size_t words = 1 + Below(random, 10);
  // No-operation options, or a record-route option that fills them (RFC 791, 3.1).
  frames::Bytes options(words * 4, 1);
  if (Below(random, 2) == 0 && options.size() >= 8) {
    options.assign(options.size(), 0);
    options[0] = 7;
    options[1] = static_cast<uint8_t>(options.size() - 1);
    options[2] = 4;
  }
  InsertBytes(frame, kEthernet + 20, options);
  frame[14] = static_cast<uint8_t>(0x40 | (5 + words));
  SetU16(frame, 16, GetU16(frame, 16) + options.size());
  FixIpv4Checksum(frame);
  return true;
}

bool BreakIpv4Header(frames::Bytes& frame, Random& random) {
  if (!IsIpv4(frame)) return false;
  switch (Below(random, 4)) {
    case 0:  // Version.
      frame[14] = static_cast<uint8_t>(Below(random, 16) << 4 | (frame[14] & 0x0f));
      break;
    case 1:  // Header length.
      frame[14] = static_cast<uint8_t>(0x40 | Below(random, 16));
      break;
    case 2:  // Total length.
      SetU16(frame, 16, Below(random, 2) == 0 ? Below(random, 40) : GetU16(frame, 16) + Below(random, 100));
      break;
    default:  // Checksum; nothing else is made to fit it.
      SetU16(frame, 24, GetU16(frame, 24) ^ (1 + Below(random, 0xfffe)));
      return true;
  }
  FixIpv4Checksum(frame);
  return true;
}

bool BreakIpv6Header(frames::Bytes& frame, Random& random) {
  if (!IsIpv6(frame)) return false;
  if (Below(random, 2) == 0) {
    frame[14] = static_cast<uint8_t>(Below(random, 16) << 4);
  } else {
    SetU16(frame, 18, Below(random, 2) == 0 ? Below(random, 40) : GetU16(frame, 18) + Below(random, 100));
  }
  return true;
}

// A fragment as such: the datagram around it does not matter to who gets it.
bool MakeFragment(frames::Bytes& frame, Random& random) {
  const std::array<uint16_t, 4> offsets = {0, 1, 185, 0x1fff};  // In units of 8 bytes.
  const uint16_t offset = offsets[Below(random, offsets.size())];
  const bool more = Below(random, 2) == 0;
  if (IsIpv4(frame)) {
    SetU16(frame, 20, offset | (more ? 0x2000 : 0) | (Below(random, 4) == 0 ? 0x4000 : 0));
    FixIpv4Checksum(frame);
    return true;
  }
  if (!IsIpv6(frame)) return false;
  frames::Bytes header(8, 0);
  header[0] = frame[20];
  SetU16(header, 2, static_cast<uint64_t>(offset) << 3 | (more ? 1 : 0));
  header[7] = static_cast<uint8_t>(Below(random, 256));
  frame[20] = 44;
  InsertBytes(frame, kEthernet + kIpv6, header);
  SetU16(frame, 18, GetU16(frame, 18) + header.size());
  return true;
}

bool AddExtensionHeaders(frames::Bytes& frame, Random& random) {
  if (!IsIpv6(frame)) return false;
  const uint64_t count = 1 + Below(random, 3);
  for (uint64_t n = 0; n < count; ++n) {
    const std::array<uint8_t, 3> types = {0, 43, 60};
    frames::Bytes header(8 * (1 + Below(random, 3)), 0);
    header[0] = frame[20];
    header[1] = static_cast<uint8_t>(header.size() / 8 - 1);
    if (Below(random, 8) == 0) header[1] = static_cast<uint8_t>(Below(random, 256));  // A wrong length.
    frame[20] = types[Below(random, types.size())];
    InsertBytes(frame, kEthernet + kIpv6, header);
    SetU16(frame, 18, GetU16(frame, 18) + header.size());
  }
  return true;
}

bool AddVlanTags(frames::Bytes& frame, Random& random) {
  const uint64_t count = 1 + Below(random, 2);
  for (uint64_t n = 0; n < count; ++n) {
    frames::Bytes tag = {0x81, 0x00, 0x00, static_cast<uint8_t>(Below(random, 256))};
    if (Below(random, 3) == 0) SetU16(tag, 0, 0x88a8);
    InsertBytes(frame, 12, tag);
  }
  return true;
}

bool FlipByte(frames::Bytes& frame, Random& random) {
  const size_t headers = std::min<size_t>(frame.size(), 80);
  frame[Below(random, headers)] ^= static_cast<uint8_t>(1 + Below(random, 255));
  return true;
}

bool AddTrailer(frames::Bytes& frame, Random& random) {
  frame.resize(frame.size() + 1 + Below(random, 60), 0xee);
  return true;
}

bool Enlarge(frames::Bytes& frame, Random& random) {
  // Around a tenant's MTU, and as large as the NIC takes.
  const std::array<size_t, 6> sizes = {1449, 1450, 1451, 1500, 4000, 8900};
  const size_t size = kEthernet + sizes[Below(random, sizes.size())];
  if (frame.size() >= size || (!IsIpv4(frame) && !IsIpv6(frame))) return false;
  frame.resize(size, 0x5a);
  if (IsIpv4(frame)) {
    SetU16(frame, 16, frame.size() - kEthernet);
    FixIpv4Checksum(frame);
  } else {
    SetU16(frame, 18, frame.size() - kEthernet - kIpv6);
  }
  return true;
}

struct Kind {
  std::string_view name;
  bool (*apply)(frames::Bytes& frame, Random& random);
};

constexpr Kind kKinds[] = {
    {"truncated", Truncate},
    {"ip_options", AddIpv4Options},
    {"ipv4_header", BreakIpv4Header},
    {"ipv6_header", BreakIpv6Header},
    {"fragment", MakeFragment},
    {"extension_headers", AddExtensionHeaders},
    {"vlan", AddVlanTags},
    {"flipped", FlipByte},
    {"trailer", AddTrailer},
    {"large", Enlarge},
};

}  // namespace

Mutated Mutate(const frames::Bytes& frame, Random& random) {
  Mutated mutated{"none", frame};
  if (frame.size() < kEthernet) return mutated;
  const Kind& kind = kKinds[Below(random, std::size(kKinds))];
  if (kind.apply(mutated.frame, random)) mutated.kind = kind.name;
  return mutated;
}

}  // namespace kasane::random
