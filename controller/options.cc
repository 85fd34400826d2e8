#include "controller/options.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <vector>

#include "base/arguments.h"
#include "base/status.h"

namespace kasane::controller {
namespace {

constexpr const char* kConfigFile = "/etc/kasane/controller.yaml";

constexpr const char* kDescription =
    "kasane-controller, the reference controller of Kasane.\n\n"
    "It keeps the virtual networks of all tenants in one SQLite file, takes changes over its gRPC API "
    "(kasanectl,\n"
    "Neutron's driver) and streams to each host's agent exactly what that host needs. Stopping it changes "
    "nothing\n"
    "in forwarding. Each option is also a key of the configuration file; an option wins over the file.";

constexpr const char* kFooter =
    "\nA configuration file (all keys, with their defaults):\n"
    "  listen: 127.0.0.1:6650\n"
    "  store: /var/lib/kasane/controller.db\n"
    "  insecure: false\n"
    "  log_level: info\n"
    "  log_format: text\n\n"
    "Try it:\n"
    "  kasane-controller --store ./try.db\n"
    "  kasanectl apply -f topology.yaml\n"
    "  kasanectl get ports";

// A value as text, and where it was given, for messages.
struct Entry {
  std::string value;
  std::string where;
};
using Entries = std::map<std::string, Entry>;

struct Key {
  const char* name;
  const char* flag;
  const char* type;
  const char* help;
};

constexpr Key kKeys[] = {
    {"listen", "--listen", "ADDR",
     "Address for the API and the agents, HOST:PORT [127.0.0.1:6650]. One that is not loopback needs "
     "--insecure"},
    {"store", "--store", "FILE",
     "SQLite database, made if missing, readable by its owner only [/var/lib/kasane/controller.db]"},
    {"log_level", "--log-level", "LEVEL", "debug, info, warning or error [info]"},
    {"log_format", "--log-format", "FORMAT", "text, or json: one object a line [text]"},
};

bool IsKey(const std::string& name) {
  if (name == "insecure") return true;
  for (const Key& key : kKeys) {
    if (name == key.name) return true;
  }
  return false;
}

// ---- the file

void ReadMap(const YAML::Node& root, const std::string& file, Entries& entries,
             std::vector<std::string>& faults) {
  for (const auto& pair : root) {
    const std::string where = fmt::format("{}:{}", file, pair.first.Mark().line + 1);
    const std::string name = pair.first.IsScalar() ? pair.first.Scalar() : "";
    if (!IsKey(name)) {
      faults.push_back(fmt::format(
          "{}: \"{}\" is no key; there are listen, store, insecure, log_level and log_format", where, name));
    } else if (!pair.second.IsScalar()) {
      faults.push_back(fmt::format("{}: {} must be one value", where, name));
    } else if (!entries.emplace(name, Entry{pair.second.Scalar(), fmt::format("{}: {}", where, name)}).second) {
      faults.push_back(fmt::format("{}: {} is given twice; keep one", where, name));
    }
  }
}

// A file that was not asked for may be missing.
Entries ReadFile(const std::string& file, bool asked_for, std::vector<std::string>& faults) {
  Entries entries;
  errno = 0;
  std::ifstream stream(file);
  if (!stream) {
    if (asked_for || errno != ENOENT) {
      faults.push_back(fmt::format("{}: cannot be read: {}", file, std::strerror(errno)));
    }
    return entries;
  }
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  try {
    const YAML::Node root = YAML::Load(text);
    if (root.IsMap()) {
      ReadMap(root, file, entries, faults);
    } else if (!root.IsNull()) {
      faults.push_back(fmt::format("{}: must be a map of keys to values", file));
    }
  } catch (const YAML::Exception& error) {
    faults.push_back(fmt::format("{}:{}: {}", file, error.mark.line + 1, error.msg));
  }
  return entries;
}

// ---- values

void ReadListen(const Entry& entry, Options& options, std::vector<std::string>& faults) {
  const absl::StatusOr<rpc::ListenAddress> address = rpc::ListenAddress::Parse(entry.value);
  if (address.ok()) {
    options.listen = *address;
  } else {
    faults.push_back(fmt::format("{}: {}", entry.where, Message(address.status())));
  }
}

// `text` by a table of names; a fault lists them.
template <typename Value>
void ReadChoice(const Entry& entry, const std::vector<std::pair<std::string, Value>>& choices, Value& out,
                std::vector<std::string>& faults) {
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) {
    if (entry.value == name) {
      out = value;
      return;
    }
    names.push_back(name);
  }
  faults.push_back(fmt::format("{}: \"{}\" is none of {}", entry.where, entry.value, fmt::join(names, ", ")));
}

void CheckInsecure(const Entries& entries, const Options& options, std::vector<std::string>& faults) {
  if (options.insecure || options.listen.ip.IsLoopback()) return;
  faults.push_back(fmt::format(
      "{}: {} is not a loopback address, and mutual TLS is not there yet: whoever reaches it can read and "
      "change the "
      "networks of all tenants. Give --insecure to accept that, on a trusted management network only",
      entries.at("listen").where, options.listen.ToString()));
}

Options Judge(const Entries& entries, std::vector<std::string>& faults) {
  Options options;
  ReadListen(entries.at("listen"), options, faults);
  options.store = entries.at("store").value;
  if (options.store.empty())
    faults.push_back(fmt::format("{}: is empty; name a file", entries.at("store").where));
  ReadChoice<bool>(
      entries.at("insecure"),
      {{"false", false}, {"no", false}, {"off", false}, {"true", true}, {"yes", true}, {"on", true}},
      options.insecure, faults);
  ReadChoice<log::Level>(entries.at("log_level"),
                         {{"debug", log::Level::kDebug},
                          {"info", log::Level::kInfo},
                          {"warning", log::Level::kWarning},
                          {"error", log::Level::kError}},
                         options.log.level, faults);
  ReadChoice<log::Format>(entries.at("log_format"),
                          {{"text", log::Format::kText}, {"json", log::Format::kJson}}, options.log.format,
                          faults);
  if (faults.empty()) CheckInsecure(entries, options, faults);
  return options;
}

// Later sources win.
Entries Merge(const Entries& flags, const Entries& file) {
  Entries entries = {{"listen", {"127.0.0.1:6650", "default"}},
                     {"store", {"/var/lib/kasane/controller.db", "default"}},
                     {"insecure", {"false", "default"}},
                     {"log_level", {"info", "default"}},
                     {"log_format", {"text", "default"}}};
  for (const auto& [name, entry] : file) entries[name] = entry;
  for (const auto& [name, entry] : flags) entries[name] = entry;
  return entries;
}

void AddFlags(cli::Command& app, Entries& flags) {
  for (const Key& key : kKeys) {
    const std::string name = key.name;
    const std::string flag = key.flag;
    app.OnValue(
           flag,
           [&flags, name, flag](const std::string& value) {
             flags[name] = {value, flag};
           },
           key.help)
        .ValueName(key.type);
  }
  app.OnFlag(
      "--insecure",
      [&flags] {
        flags["insecure"] = {"true", "--insecure"};
      },
      "Allow a listen address that is not loopback, without any authentication or encryption");
}

}  // namespace

std::variant<Options, ExitNow> ReadOptions(int argc, const char* const* argv) {
  Entries flags;
  std::string file = kConfigFile;
  cli::CommandLine app(kDescription, "kasane-controller");
  app.Footer(kFooter);
  const cli::Option config =
      app.AddOption("--config", file, fmt::format("Configuration file [{}]", kConfigFile)).ValueName("FILE");
  app.AddVersion("kasane-controller " KASANE_VERSION, "Print the version and exit");
  AddFlags(app, flags);
  if (const auto ending = app.Parse(argc, argv)) {
    return ExitNow{ending->code == 0 ? 0 : 2,
                   ending->code == 0 ? ending->out : "kasane-controller: " + ending->err};
  }
  std::vector<std::string> faults;
  const Entries from_file = ReadFile(file, config.IsGiven(), faults);
  const Options options = Judge(Merge(flags, from_file), faults);
  if (faults.empty()) return options;
  std::string text;
  for (const std::string& fault : faults) text += fmt::format("kasane-controller: {}\n", fault);
  return ExitNow{1, text};
}

}  // namespace kasane::controller
