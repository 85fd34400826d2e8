#include "ctl/output/faults.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace kasane::ctl {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The run of digits that `text` begins with, without leading zeros; removed from `text`.
std::string_view TakeNumber(std::string_view& text) {
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string_view number = text.substr(0, end);
  text.remove_prefix(end);
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

// Whether the controller's judgement of `path` follows from a fault of form. A duplicate id is at fault
// in "ports[3].id" of the form; the controller says the same of "ports[3]".
bool Follows(const std::string& path, const std::set<std::string>& form) {
  if (form.contains(path + ".id")) return true;
  for (size_t end = path.size(); end != std::string::npos && end > 0; end = path.find_last_of(".[", end - 1)) {
    if (form.contains(path.substr(0, end))) return true;
  }
  return false;
}

}  // namespace

bool NaturalLess(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (IsDigit(a[0]) && IsDigit(b[0])) {
      const std::string_view left = TakeNumber(a);
      const std::string_view right = TakeNumber(b);
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
    } else {
      if (a[0] != b[0]) return a[0] < b[0];
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.empty() && !b.empty();
}

std::vector<model::Fault> MergeFaults(const std::vector<model::Fault>& form,
                                      const std::vector<model::Fault>& controller) {
  std::set<std::string> paths;
  for (const model::Fault& fault : form) {
    // A fault of a whole section says nothing about the resources in it.
    if (fault.path.find('[') != std::string::npos) paths.insert(fault.path);
  }
  std::vector<model::Fault> merged = form;
  for (const model::Fault& fault : controller) {
    if (!Follows(fault.path, paths)) merged.push_back(fault);
  }
  std::stable_sort(merged.begin(), merged.end(),
                   [](const model::Fault& a, const model::Fault& b) { return NaturalLess(a.path, b.path); });
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<model::Fault> out;
  for (model::Fault& fault : merged) {
    if (seen.emplace(fault.path, fault.message).second) out.push_back(std::move(fault));
  }
  return out;
}

}  // namespace kasane::ctl
