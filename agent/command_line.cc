#include "agent/command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <list>
#include <sstream>
#include <string>
#include <vector>

namespace kasane {
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
void AddKeys(CLI::App& app, Flags& flags) {
  for (const ConfigKey& key : ConfigKeys()) {
    const std::string name(key.name);
    const std::string flag(key.flag);
    std::string help(key.help);
    if (!key.default_value.empty() && key.type != KeyType::kFlag)
      help += fmt::format(" [{}]", key.default_value);
    if (key.type == KeyType::kFlag) {
      app.add_flag_callback(
          flag,
          [&flags, name, flag] {
            flags.entries[name] = {{"true"}, flag};
          },
          help);
      continue;
    }
    CLI::Option* option = app.add_option_function<std::vector<std::string>>(
        flag,
        [&flags, name, flag](const std::vector<std::string>& values) {
          flags.entries[name] = {values, flag};
        },
        help);
    option->expected(1)->type_name("VALUE");
    option->multi_option_policy(key.type == KeyType::kList ? CLI::MultiOptionPolicy::TakeAll
                                                           : CLI::MultiOptionPolicy::Throw);
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

std::variant<AgentConfig, ExitNow> Judge(const Flags& flags) {
  std::vector<ConfigFault> faults;
  ConfigEntries entries = ReadFile(flags, faults);
  for (const auto& [key, entry] : flags.entries) entries[key] = entry;
  AgentConfig config = JudgeConfig(entries, HostName(), faults);
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
  CLI::App app(kDescription, "kasaned");
  app.footer(kFooter);
  app.set_version_flag("--version", "kasaned " KASANE_VERSION, "Print the version and exit");
  CLI::Option* file =
      app.add_option("--config", flags.file, fmt::format("Configuration file [{}]", flags.file));
  file->type_name("FILE");
  app.add_flag("--check", flags.check, "Check the configuration, print every fault, and exit");
  AddKeys(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = app.exit(error, out, err);
    return ExitNow{code == 0 ? 0 : 2, code == 0 ? out.str() : "kasaned: " + err.str()};
  }
  flags.file_given = file->count() > 0;
  return Judge(flags);
}

}  // namespace kasane
