#include "base/edit_distance.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace kasane {

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

NearestName::NearestName(std::string_view name)
    : name_(name), limit_(std::max<size_t>(2, name.size() / 3) + 1) {}

void NearestName::Offer(std::string_view known) {
  // The time is the product of the lengths, and no known name is that long.
  constexpr size_t kLongestName = 64;
  if (name_.size() > kLongestName) return;
  const size_t distance = EditDistance(name_, known);
  // Of a short name nothing may be left: "ip" is not meant by "xy".
  if (distance >= limit_ || distance >= std::max(name_.size(), known.size())) return;
  limit_ = distance;
  result_ = known;
}

std::string DidYouMean(std::string_view name) {
  return name.empty() ? std::string() : fmt::format("; did you mean {}?", name);
}

}  // namespace kasane
