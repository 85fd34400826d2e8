#include "tests/random/headers.h"

#include <algorithm>

namespace kasane::random {
namespace {

constexpr size_t kEthernet = 14;
constexpr size_t kIpv6 = 40;

}  // namespace

bool IsIpv4(const Bytes& frame) { return frame.size() >= kEthernet + 20 && GetU16(frame, 12) == 0x0800; }
bool IsIpv6(const Bytes& frame) { return frame.size() >= kEthernet + kIpv6 && GetU16(frame, 12) == 0x86dd; }

uint16_t GetU16(const Bytes& frame, size_t at) { return static_cast<uint16_t>(frame[at] << 8 | frame[at + 1]); }
void SetU16(Bytes& frame, size_t at, uint64_t value) {
  frame[at] = static_cast<uint8_t>(value >> 8);
  frame[at + 1] = static_cast<uint8_t>(value);
}
void InsertBytes(Bytes& frame, size_t at, const Bytes& bytes) {
  frame.insert(frame.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin(), bytes.end());
}

void FixIpv4Checksum(Bytes& frame) {
  const size_t length = std::min<size_t>((frame[14] & 0x0f) * 4U, frame.size() - kEthernet);
  SetU16(frame, 24, 0);
  uint32_t sum = 0;
  for (size_t i = 0; i + 1 < length; i += 2) sum += GetU16(frame, kEthernet + i);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  SetU16(frame, 24, static_cast<uint16_t>(~sum));
}

Bytes HeaderBytes(uint8_t kind, uint8_t next, Random& random) {
  Bytes header(8, 0);
  header[0] = next;
  if (kind == kAuthentication) {
    header.resize(24, 0xa5);
    header[1] = 24 / 4 - 2;
    SetU16(header, 4, 0);
    SetU16(header, 6, 1);
  } else if (kind == kFragmentHeader) {
    header[7] = static_cast<uint8_t>(Below(random, 256));  // Atomic (RFC 6946).
  } else {
    header.resize(8 * (1 + Below(random, 3)), 0);
    header[1] = static_cast<uint8_t>(header.size() / 8 - 1);
    // PadN over all of it; as a routing header, type 1 with nothing left.
    header[2] = 1;
    header[3] = static_cast<uint8_t>(kind == kRouting ? 0 : header.size() - 4);
  }
  return header;
}

bool InsertHeader(Bytes& frame, uint8_t kind, Random& random) {
  if (IsIpv4(frame)) {
    const size_t at = kEthernet + (frame[14] & 0x0fU) * 4;
    if (frame.size() < at) return false;
    const Bytes header = HeaderBytes(kind, frame[23], random);
    frame[23] = kind;
    InsertBytes(frame, at, header);
    SetU16(frame, 16, GetU16(frame, 16) + header.size());
    FixIpv4Checksum(frame);
    return true;
  }
  if (!IsIpv6(frame)) return false;
  const Bytes header = HeaderBytes(kind, frame[20], random);
  frame[20] = kind;
  InsertBytes(frame, kEthernet + kIpv6, header);
  SetU16(frame, 18, GetU16(frame, 18) + header.size());
  return true;
}

Bytes FragmentOf(const Bytes& frame, size_t offset, size_t size, bool more) {
  const size_t begin = kEthernet + kIpv6 + offset;
  Bytes out(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(kEthernet + kIpv6));
  Bytes header(8, 0);
  header[0] = frame[20];
  SetU16(header, 2, offset | (more ? 1 : 0));
  header[7] = 0x42;
  out[20] = kFragmentHeader;
  SetU16(out, 18, header.size() + size);
  InsertBytes(out, out.size(), header);
  out.insert(out.end(), frame.begin() + static_cast<std::ptrdiff_t>(begin),
             frame.begin() + static_cast<std::ptrdiff_t>(begin + size));
  return out;
}

}  // namespace kasane::random
