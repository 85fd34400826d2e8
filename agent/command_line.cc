#include "agent/command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <list>
#include <string>
#include <vector>

#include "base/arguments.h"

namespace kasane::agent {
namespace {

constexpr const char* kDescription =
    "kasaned, the Kasane agent of one hypervisor.\n\n"
    "It holds a stream to kasane-controller, turns the network state that it receives into the flows of the\n"
    "host's Open vSwitch, and reports what is in force. Stopping it (SIGTERM) leaves the switch forwarding.\n"
    "Each option is also a key of the configuration file; an option wins over the file.";

constexpr const char* kFooter =
    "\nA configuration file:\n"
    "  host_id: hv1\n"
    "  controller: 127.0.0.1:6650\n"
    "  tunnel_addresses: [192.0.2.11]\n"
    "  datapath:\n"
    "    bridge: br-int\n\n"
    "Look inside of a running agent with: kasanectl status";

struct Flags {
  std::string file{kDefaultConfigFile};
  bool file_given = false;
  bool check = false;
  ConfigEntries entries;
};

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// Gives each key its option; what is set lands in `flags`.
void AddKeys(cli::Command& app, Flags& flags) {
  for (const ConfigKey& key : ConfigKeys()) {
    const std::string name(key.name);
    const std::string flag(key.flag);
    std::string help(key.help);
    if (!key.default_value.empty() && key.type != KeyType::kFlag)
      help += fmt::format(" [{}]", key.default_value);
    if (key.type == KeyType::kFlag) {
      app.OnFlag(
          flag,
          [&flags, name, flag] {
            flags.entries[name] = {{"true"}, flag};
          },
          help);
      continue;
    }
    const auto set = [&flags, name, flag](const std::vector<std::string>& values) {
      flags.entries[name] = {values, flag};
    };
    const auto set_one = [set](const std::string& value) { set({value}); };
    cli::Option option =
        key.type == KeyType::kList ? app.OnEachValue(flag, set, help) : app.OnValue(flag, set_one, help);
    option.ValueName("VALUE");
  }
}

// Nothing in the file is not an error; a file that was asked for and is not there is.
ConfigEntries ReadFile(const Flags& flags, std::vector<ConfigFault>& faults) {
  errno = 0;
  std::ifstream stream(flags.file);
  if (!stream) {
    const int error = errno;
    if (flags.file_given || error != ENOENT) {
      faults.push_back({flags.file, "", fmt::format("cannot be read: {}", std::strerror(error))});
    }
    return {};
  }
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  return ParseConfig(flags.file, text, faults);
}

std::variant<AgentConfig, ExitNow> Validate(const Flags& flags) {
  std::vector<ConfigFault> faults;
  ConfigEntries entries = ReadFile(flags, faults);
  for (const auto& [key, entry] : flags.entries) entries[key] = entry;
  AgentConfig config = ValidateConfig(entries, HostName(), faults);
  if (faults.empty()) {
    if (flags.check) return ExitNow{0, fmt::format("the configuration is good (host {})\n", config.host_id)};
    return config;
  }
  std::string text;
  for (const ConfigFault& fault : faults) text += "kasaned: " + ToString(fault) + "\n";
  return ExitNow{1, text};
}

}  // namespace

std::variant<AgentConfig, ExitNow> ReadCommandLine(int argc, const char* const* argv) {
  Flags flags;
  cli::CommandLine app(kDescription, "kasaned");
  app.Footer(kFooter);
  app.AddVersion("kasaned " KASANE_VERSION, "Print the version and exit");
  const cli::Option file =
      app.AddOption("--config", flags.file, fmt::format("Configuration file [{}]", flags.file))
          .ValueName("FILE");
  app.AddFlag("--check", flags.check, "Check the configuration, print every fault, and exit");
  AddKeys(app, flags);
  if (const auto ending = app.Parse(argc, argv)) {
    return ExitNow{ending->code == 0 ? 0 : 2, ending->code == 0 ? ending->out : "kasaned: " + ending->err};
  }
  flags.file_given = file.IsGiven();
  return Validate(flags);
}

}  // namespace kasane::agent
