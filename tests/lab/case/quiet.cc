#include "tests/lab/case/quiet.h"

#include <algorithm>

#include "tests/lab/responder.h"
#include "vswitch/packet/packet.h"

namespace kasane::lab {
namespace {

constexpr uint8_t kIgmp = 2;
constexpr uint8_t kMldReport = 131;
constexpr uint8_t kMldDone = 132;
constexpr uint8_t kMldv2Report = 143;

}  // namespace

// A hand-written one looks the same; but kernels are held back while such are under way, and speak IGMP and MLD
// only when they are not.
bool IsBackground(const CapturedFrame& captured) {
  const packet::Packet packet(captured.frame.bytes);
  if (!packet.has_ip()) return false;
  if (packet.ip_proto() == kIgmp) return true;
  if (packet.is_v4() || !packet.has_icmp()) return false;
  const uint8_t type = packet.icmp_type();
  return type == kMldReport || type == kMldDone || type == kMldv2Report;
}

bool IsStreamPacket(const CapturedFrame& captured, const std::string& text) {
  const std::vector<uint8_t>& frame = captured.frame.bytes;
  const packet::Packet packet(frame);
  if (!packet.has_ip() || !packet.has_udp()) return false;
  if (packet.udp_src() != kProbePort && packet.udp_dst() != kProbePort) return false;
  return std::search(frame.begin(), frame.end(), text.begin(), text.end()) == frame.end();
}

bool IsReceived(const CapturedFrame& frame) { return !frame.frame.outgoing; }

size_t CountReceived(const std::vector<CapturedFrame>& frames) {
  return static_cast<size_t>(std::count_if(frames.begin(), frames.end(), IsReceived));
}

bool IsEchoReplyWith(const std::vector<uint8_t>& frame, const std::string& text) {
  const packet::Packet packet(frame);
  if (!packet.has_icmp() || packet.icmp_type() != (packet.is_v4() ? 0 : 129)) return false;
  return std::search(frame.begin(), frame.end(), text.begin(), text.end()) != frame.end();
}

}  // namespace kasane::lab
