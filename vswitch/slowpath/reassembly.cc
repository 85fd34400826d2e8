#include "vswitch/slowpath/reassembly.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "vswitch/slowpath/admission.h"

namespace kasane::slowpath {
namespace {

// A fragment that is wrong by itself: all but the last have a multiple of 8 bytes, and a datagram ends where
// its length can say.
bool IsWrong(const packet::Fragment& fragment) {
  constexpr size_t kMaxEnd = 0xffff;
  return fragment.data.empty() || (fragment.more && fragment.data.size() % 8 != 0) ||
         fragment.offset + fragment.data.size() > kMaxEnd;
}

size_t EndOf(const packet::Fragment& fragment) { return fragment.offset + fragment.data.size(); }

}  // namespace

Reassembly::Key Reassembly::KeyOf(const SlowPathPacket& packet, const packet::Packet& frame, uint32_t id) {
  return {SenderOf(packet),
          packet.network,
          packet.router.value_or(RouterId()),
          frame.ip_src(),
          frame.ip_dst(),
          frame.is_v4() ? frame.ip_proto() : uint8_t{0},
          id};
}

// The same once more, as networks may deliver it (RFC 8200, 4.5).
bool Reassembly::IsKnown(const Datagram& datagram, const packet::Fragment& fragment) {
  const auto piece = datagram.pieces.find(fragment.offset);
  return piece != datagram.pieces.end() && std::ranges::equal(piece->second, fragment.data) &&
         fragment.more == (datagram.end != EndOf(fragment));
}

bool Reassembly::Fits(const Datagram& datagram, const packet::Fragment& fragment) {
  const size_t end = EndOf(fragment);
  if (datagram.pieces.size() >= kFragments) return false;
  if (datagram.end && (!fragment.more || end > *datagram.end)) return false;
  const auto behind = datagram.pieces.lower_bound(fragment.offset);
  if (behind != datagram.pieces.end() && (!fragment.more || behind->first < end)) return false;
  if (behind == datagram.pieces.begin()) return true;
  const auto& [offset, data] = *std::prev(behind);
  return offset + data.size() <= fragment.offset;
}

void Reassembly::Keep(Datagram& datagram, const SlowPathPacket& packet, size_t bytes,
                      packet::Fragment fragment) {
  datagram.bytes += fragment.data.size();
  datagram.largest = std::max(datagram.largest, static_cast<uint32_t>(bytes));
  if (!fragment.more) datagram.end = EndOf(fragment);
  datagram.pieces.emplace(fragment.offset, std::vector<uint8_t>(fragment.data.begin(), fragment.data.end()));
  if (fragment.offset != 0) return;
  datagram.first = packet;
  datagram.head = std::move(fragment.head);
}

// Nothing overlaps and nothing is behind the end: it is whole when it has as many bytes.
std::optional<SlowPathPacket> Reassembly::Join(const Datagram& datagram, uint32_t id) {
  std::vector<uint8_t> data;
  data.reserve(datagram.bytes);
  for (const auto& [offset, piece] : datagram.pieces) data.insert(data.end(), piece.begin(), piece.end());
  auto frame = packet::MakeDatagram(datagram.head, data);
  if (!frame) return std::nullopt;
  SlowPathPacket whole = *datagram.first;
  whole.frame = *std::move(frame);
  whole.reassembled = Reassembled{id, datagram.largest};
  return whole;
}

Reassembly::Datagrams::iterator Reassembly::Erase(Datagrams::iterator at) {
  senders_.Release(at->first.sender);
  return datagrams_.erase(at);
}

// A new datagram, for which the sender's oldest give way as far as its share needs it.
Reassembly::Datagrams::iterator Reassembly::Begin(const Key& key, Time now, std::vector<Lost>& lost) {
  const auto is_older = [](const auto& a, const auto& b) { return a.second.number < b.second.number; };
  while (!senders_.HasRoom(key.sender)) {
    const auto first = std::find_if(datagrams_.begin(), datagrams_.end(),
                                    [&](const auto& entry) { return entry.first.sender == key.sender; });
    const auto last = std::find_if(first, datagrams_.end(),
                                   [&](const auto& entry) { return entry.first.sender != key.sender; });
    const auto oldest = std::min_element(first, last, is_older);
    lost.push_back({key.sender, oldest->second.pieces.size(), std::nullopt});
    Erase(oldest);
  }
  senders_.Take(key.sender);
  Datagram datagram;
  datagram.until = now + timeout_;
  datagram.number = next_number_++;
  return datagrams_.emplace(key, std::move(datagram)).first;
}

Reassembly::Outcome Reassembly::Add(const SlowPathPacket& packet, Time now) {
  Outcome out;
  const vswitch::Owner sender = SenderOf(packet);
  const packet::Packet frame(packet.frame);
  auto fragment = packet::ReadFragment(frame);
  const auto lose = [&](size_t fragments) {
    if (fragments != 0) out.lost.push_back({sender, fragments, std::nullopt});
    return std::move(out);
  };
  if (!fragment || IsWrong(*fragment)) return lose(1);
  const Key key = KeyOf(packet, frame, fragment->id);
  // A fragment that is a whole datagram has nothing to do with others of its id (RFC 6946).
  const bool atomic = fragment->offset == 0 && !fragment->more;
  Datagram alone;
  auto at = atomic ? datagrams_.end() : datagrams_.find(key);
  if (!atomic && at == datagrams_.end()) at = Begin(key, now, out.lost);
  Datagram& datagram = atomic ? alone : at->second;
  if (datagram.refused || IsKnown(datagram, *fragment)) return lose(1);
  if (!Fits(datagram, *fragment)) {
    const size_t fragments = datagram.pieces.size() + 1;
    datagram.refused = true;
    datagram.pieces.clear();
    datagram.first.reset();
    datagram.head.clear();
    return lose(fragments);
  }
  Keep(datagram, packet, frame.ip_packet().size(), *std::move(fragment));
  if (datagram.bytes != datagram.end) return out;
  out.whole = Join(datagram, key.id);
  const size_t fragments = datagram.pieces.size();
  if (!atomic) Erase(at);
  return lose(out.whole ? 0 : fragments);
}

std::vector<Reassembly::Lost> Reassembly::TakeExpired(Time now) {
  std::vector<Lost> expired;
  for (auto at = datagrams_.begin(); at != datagrams_.end();) {
    Datagram& datagram = at->second;
    if (datagram.until > now) {
      ++at;
      continue;
    }
    if (!datagram.pieces.empty())
      expired.push_back({at->first.sender, datagram.pieces.size(), std::move(datagram.first)});
    at = Erase(at);
  }
  return expired;
}

std::optional<Reassembly::Time> Reassembly::NextExpiry() const {
  const auto next = std::min_element(datagrams_.begin(), datagrams_.end(), [](const auto& a, const auto& b) {
    return a.second.until < b.second.until;
  });
  return next == datagrams_.end() ? std::nullopt : std::optional(next->second.until);
}

}  // namespace kasane::slowpath
