// Readers of single fields: text of the wire into typed values, each fault at its field's path.
//
// A reader that fails appends a fault and returns a default; the decoder drops the whole resource when
// any fault was appended, so that the default goes nowhere.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/edit_distance.h"
#include "base/ip_address.h"
#include "base/mac_address.h"
#include "base/status.h"
#include "model/decode.h"

namespace kasane::model {

// The longest id, name or other single string that is taken, in characters: Neutron's own limit.
inline constexpr size_t kMaxText = 255;

// Where a value stands. Cheap: the path is put together only for a fault. Refers to the field that it was
// made from, which must outlive it; make each one from a named field.
class Field {
 public:
  Field(std::string_view path, std::vector<Fault>& faults) : name_(path), faults_(&faults) {}

  Field Sub(std::string_view name) const { return {this, name, -1}; }                 // path.name
  Field Item(std::string_view name, int index) const { return {this, name, index}; }  // path.name[index]
  std::string Path() const;

  template <typename... Args>
  void Fail(fmt::format_string<Args...> format, Args&&... args) const {
    faults_->push_back({Path(), fmt::format(format, std::forward<Args>(args)...)});
  }

 private:
  Field(const Field* parent, std::string_view name, int index)
      : parent_(parent), name_(name), index_(index), faults_(parent->faults_) {}

  const Field* parent_ = nullptr;
  std::string_view name_;
  int index_ = -1;
  std::vector<Fault>* faults_;
};

// Whether `text` has what a terminal would obey instead of show: C0, DEL, or C1 in UTF-8.
bool HasControl(std::string_view text);

// `text` in quotes for a message: bytes that are not printable escaped, cut off when long.
std::string Quoted(std::string_view text);

// "; did you mean NAME?" with the nearest of the words that a field may hold, or nothing.
template <typename Words>
std::string Suggestion(std::string_view text, const Words& words) {
  return DidYouMean(Nearest(text, words));
}

enum class Presence { kOptional, kRequired };

// Text of at most kMaxText characters without control characters.
std::string ReadText(const Field& field, const std::string& text, Presence presence = Presence::kOptional);

// The same for a name that people gave, which may have tabs.
std::string ReadName(const Field& field, const std::string& text);

template <typename IdType>
IdType ReadId(const Field& field, const std::string& text, Presence presence) {
  return IdType(ReadText(field, text, presence));
}

// The address of one host: neither unspecified, multicast, loopback nor broadcast.
std::optional<IpAddress> ReadHostAddress(const Field& field, const std::string& text, Presence presence);
// A CIDR without host bits.
std::optional<IpPrefix> ReadPrefix(const Field& field, const std::string& text, Presence presence);
// A CIDR or an address; host bits are dropped.
std::optional<IpPrefix> ReadLenientPrefix(const Field& field, const std::string& text, Presence presence);
// The address of one interface: neither zero nor a group.
std::optional<MacAddress> ReadMac(const Field& field, const std::string& text, Presence presence);

// A fault, and false, if a list is longer than `limit`: then do not read its items.
bool CheckCount(const Field& field, int count, int limit);

}  // namespace kasane::model
