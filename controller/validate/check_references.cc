// References that dangle: to what does not exist, or would no longer after the request. A port's host need
// not exist yet: that is a warning.
#include <fmt/format.h>

#include <map>
#include <vector>

#include "controller/validate/references.h"
#include "controller/validate/validate_context.h"
#include "model/resource_name.h"

namespace kasane::controller::validation {
namespace {

constexpr size_t kNamedUsers = 3;  // How many of those that still use a deleted resource are named.

struct Users {
  size_t count = 0;
  std::vector<std::string> named;
};

class ReferenceCheck {
 public:
  explicit ReferenceCheck(Context& context) : context_(context) {}

  template <typename Map>
  void Check(model::Kind kind, const Map& map) {
    for (const auto& [id, value] : map) {
      const std::string& text = id.str();
      const std::string_view name = NameOf(*value);
      const bool in_request = context_.Touching(kind, text).has_value();
      ForEachReference(*value, [&](const Reference& reference) {
        if (in_request || context_.Touching(reference.kind, reference.id)) {
          CheckOne({kind, text}, name, reference);
        }
      });
    }
  }

  void ReportUsers() {
    for (const auto& [item, users] : still_used_) {
      const model::ResourceKey& key = *context_.items()[item].key;
      std::string list = fmt::format("{}", fmt::join(users.named, ", "));
      if (users.count > users.named.size())
        list += fmt::format(" and {} more", users.count - users.named.size());
      context_.FailItem(
          item, key,
          fmt::format("{} is still used by {}; delete or change those first, or in the same request",
                      ToString(key), list));
    }
  }

  void ReportUnseenHosts() {
    for (const auto& [host, ports] : unseen_hosts_) {
      const auto& [item, count] = ports;
      context_.Warn(
          item, *context_.items()[item].key, "binding:host_id",
          fmt::format("host {} has not been seen yet; {} stay{} BUILD until its agent connects", host,
                      count == 1 ? "the port" : fmt::format("the {} ports of this request on it", count),
                      count == 1 ? "s" : ""));
    }
  }

 private:
  void CheckOne(const model::ResourceKey& key, std::string_view name, const Reference& reference) {
    if (Exists(context_.after(), reference.kind, reference.id)) return;
    if (context_.IsUnreadable(reference.kind, reference.id)) return;
    if (!reference.must_exist) {
      NoteUnseenHost(key, reference.id);
      return;
    }
    if (context_.IsDeleted(reference.kind, reference.id)) {
      Users& users = still_used_[*context_.Touching(reference.kind, reference.id)];
      ++users.count;
      if (users.named.size() < kNamedUsers) users.named.push_back(context_.Describe(key.kind, key.id, name));
      return;
    }
    context_.Fail(key, name, std::nullopt, FieldPath(reference),
                  fmt::format("there is no {} {}; apply it first, or in the same request",
                              Label(reference.kind), reference.id));
  }

  void NoteUnseenHost(const model::ResourceKey& port, const std::string& host) {
    const std::optional<size_t> item = context_.Touching(port.kind, port.id);
    if (!item) return;
    auto& [first, count] = unseen_hosts_.try_emplace(host, *item, size_t{0}).first->second;
    first = std::min(first, *item);
    ++count;
  }

  Context& context_;
  std::map<size_t, Users> still_used_;                             // By the item that deletes what they use.
  std::map<std::string, std::pair<size_t, size_t>> unseen_hosts_;  // First item that names it, number of ports.
};

}  // namespace

void CheckReferences(Context& context) {
  const model::NetworkState& state = context.after();
  ReferenceCheck check(context);
  check.Check(model::Kind::kSubnet, state.subnets);
  check.Check(model::Kind::kPort, state.ports);
  check.Check(model::Kind::kRouter, state.routers);
  check.Check(model::Kind::kFloatingIp, state.floating_ips);
  check.Check(model::Kind::kSecurityGroup, state.security_groups);
  check.ReportUsers();
  check.ReportUnseenHosts();
}

}  // namespace kasane::controller::validation
