// How alike two names are, and which of the known names somebody meant: the "did you mean" of every message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kasane {

// Levenshtein's distance: insertions, deletions and substitutions of bytes.
size_t EditDistance(std::string_view a, std::string_view b);

// Keeps the nearest of the names offered to it, as far as it is near enough to be meant. Of equally near
// ones the first. Refers to what was offered.
class NearestName {
 public:
  explicit NearestName(std::string_view name);

  void Offer(std::string_view known);
  // Empty: none is near.
  std::string_view result() const { return result_; }

 private:
  std::string_view name_;
  size_t limit_;
  std::string_view result_;
};

template <typename Names>
std::string_view Nearest(std::string_view name, const Names& known) {
  NearestName nearest(name);
  for (const auto& candidate : known) nearest.Offer(candidate);
  return nearest.result();
}

// "; did you mean NAME?", or nothing for an empty name.
std::string DidYouMean(std::string_view name);

}  // namespace kasane
