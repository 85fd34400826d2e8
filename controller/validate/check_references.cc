// References that dangle: to what does not exist, or would no longer after the request. A port's host need
// not exist yet: that is a warning.
#include <fmt/format.h>

#include <map>
#include <vector>

#include "controller/validate/validate_context.h"
#include "model/references.h"
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
      ForEachReference(*value, [&](const model::Reference& reference) {
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

  // One warning for all: a new cloud names hundreds of hosts, and a line for each buries what else there is.
  void ReportUnseenHosts() {
    if (unseen_hosts_.empty()) return;
    std::vector<std::string_view> named;
    size_t first = context_.items().size();
    size_t ports = 0;
    for (const auto& [host, users] : unseen_hosts_) {
      if (named.size() < kNamedUsers) named.push_back(host);
      first = std::min(first, users.first);
      ports += users.second;
    }
    std::string hosts = fmt::format("{}", fmt::join(named, ", "));
    if (unseen_hosts_.size() > named.size())
      hosts += fmt::format(" and {} more", unseen_hosts_.size() - named.size());
    const bool one_host = unseen_hosts_.size() == 1;
    const std::string stay =
        ports == 1 ? "the port stays"
                   : fmt::format("the {} ports of this request on {} stay", ports, one_host ? "it" : "them");
    context_.Warn(
        first, *context_.items()[first].key, "binding:host_id",
        one_host ? fmt::format("host {} has not been seen yet; {} BUILD until its agent connects", hosts, stay)
                 : fmt::format("{} hosts have not been seen yet ({}); {} BUILD until their agents connect",
                               unseen_hosts_.size(), hosts, stay));
  }

 private:
  void CheckOne(const model::ResourceKey& key, std::string_view name, const model::Reference& reference) {
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
