// The form of the configuration file: YAML into entries.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "agent/config.h"
#include "base/edit_distance.h"

namespace kasane::agent {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;

const ConfigKey* FindKey(std::string_view name) {
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

bool IsSection(const std::string& name) {
  const std::string prefix = name + ".";
  return std::ranges::any_of(ConfigKeys(), [&](const ConfigKey& key) { return key.name.starts_with(prefix); });
}

std::string Suggest(std::string_view unknown) {
  // A key that is right but for its section is as good a guess as one with a typing error.
  const ConfigKey* best = nullptr;
  size_t best_distance = 4;
  for (const ConfigKey& key : ConfigKeys()) {
    const std::string_view last = key.name.substr(key.name.rfind('.') + 1);
    const size_t distance = std::min(EditDistance(unknown, key.name), EditDistance(unknown, last));
    if (distance < best_distance) {
      best = &key;
      best_distance = distance;
    }
  }
  if (best != nullptr) return fmt::format("unknown key; did you mean {}?", best->name);
  std::string known;
  for (const ConfigKey& key : ConfigKeys()) known += fmt::format("{}{}", known.empty() ? "" : ", ", key.name);
  return "unknown key; there are " + known;
}

class Reader {
 public:
  Reader(const std::string& file, std::vector<ConfigFault>& faults) : file_(file), faults_(faults) {}

  void ReadMap(const YAML::Node& map, const std::string& prefix) {
    for (const auto& item : map) {
      const std::string where = Where(item.first);
      if (!item.first.IsScalar()) {
        faults_.push_back({where, prefix, "a key must be plain text"});
        continue;
      }
      const std::string name = prefix.empty() ? item.first.Scalar() : prefix + "." + item.first.Scalar();
      ReadItem(name, item.second, where);
    }
  }

  ConfigEntries entries;

 private:
  void ReadItem(const std::string& name, const YAML::Node& value, const std::string& where) {
    if (IsSection(name)) {
      if (value.IsMap()) {
        ReadMap(value, name);
      } else if (!value.IsNull()) {
        faults_.push_back({where, name, "is a section: write its keys indented below it"});
      }
      return;
    }
    const ConfigKey* key = FindKey(name);
    if (key == nullptr) {
      faults_.push_back({where, name, Suggest(name)});
      return;
    }
    if (auto first = entries.find(name); first != entries.end()) {
      faults_.push_back({where, name, fmt::format("is set already at {}: remove one", first->second.where)});
      return;
    }
    if (std::optional<std::vector<std::string>> values = Values(*key, value)) {
      entries[name] = {*std::move(values), where};
    } else {
      faults_.push_back(
          {where, name,
           key->type == KeyType::kList ? "must be a list of plain values, [A, B]" : "must be one plain value"});
    }
  }

  static std::optional<std::vector<std::string>> Values(const ConfigKey& key, const YAML::Node& value) {
    if (value.IsNull()) return std::vector<std::string>(key.type == KeyType::kList ? 0 : 1);
    if (value.IsScalar()) return std::vector{value.Scalar()};
    if (!value.IsSequence() || key.type != KeyType::kList) return std::nullopt;
    std::vector<std::string> values;
    for (const YAML::Node& item : value) {
      if (!item.IsScalar()) return std::nullopt;
      values.push_back(item.Scalar());
    }
    return values;
  }

  std::string Where(const YAML::Node& node) const { return fmt::format("{}:{}", file_, node.Mark().line + 1); }

  const std::string& file_;
  std::vector<ConfigFault>& faults_;
};

}  // namespace

ConfigEntries ParseConfig(const std::string& file, const std::string& text, std::vector<ConfigFault>& faults) {
  if (text.size() > kMaxFileBytes) {
    faults.push_back(
        {file, "", fmt::format("has more than {} bytes: this is no configuration", kMaxFileBytes)});
    return {};
  }
  Reader reader(file, faults);
  try {
    const YAML::Node root = YAML::Load(text);
    if (root.IsMap()) {
      reader.ReadMap(root, "");
    } else if (!root.IsNull()) {
      faults.push_back({file + ":1", "", "must be a map of keys, `controller: 127.0.0.1:6650` for instance"});
    }
  } catch (const YAML::Exception& error) {
    faults.push_back({fmt::format("{}:{}", file, error.mark.line + 1), "",
                      fmt::format("is not YAML: {} (column {})", error.msg, error.mark.column + 1)});
  }
  return reader.entries;
}

std::string ToString(const ConfigFault& fault) {
  std::string text;
  for (const std::string& part : {fault.where, fault.key}) {
    if (!part.empty()) text += part + ": ";
  }
  return text + fault.message;
}

}  // namespace kasane::agent
