// The command line of a program: options, positional arguments and subcommands, and what --help says of them.
//
// A thin layer over CLI11, whose headers take ten seconds of CPU to compile: arguments.cc alone includes them.
// Names are written as CLI11 takes them: "-f,--file" is an option, "FILE" a positional argument, "!--no-wait" a
// flag that clears its target. Targets, and all that a callback captures, must outlive Parse. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kasane::cli {

// An option, flag or positional argument. A handle: copies name the same one, which lives in its CommandLine.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option Required();
  Option ShowDefault();                         // --help shows what the target holds now.
  Option Environment(const std::string& name);  // The variable counts where the option is not given.
  Option ValueName(const std::string& name);    // What --help calls the value, instead of its type.
  Option OneOf(const std::vector<std::string>& words);
  Option Range(int64_t lowest, int64_t highest);  // Both included.
  Option Positive();
  [[nodiscard]] bool IsGiven() const;  // After Parse.

 private:
  CLI::Option* option_;
};

// A program or one of its subcommands. A handle like Option.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  // A value that is not of the target's type is refused.
  Option AddOption(const std::string& names, std::string& target, const std::string& help = "");
  Option AddOption(const std::string& names, int& target, const std::string& help = "");
  Option AddOption(const std::string& names, uint16_t& target, const std::string& help = "");
  Option AddOption(const std::string& names, uint32_t& target, const std::string& help = "");
  Option AddOption(const std::string& names, uint64_t& target, const std::string& help = "");
  Option AddOption(const std::string& names, double& target, const std::string& help = "");
  // Takes any number of values, and may be repeated.
  Option AddOption(const std::string& names, std::vector<std::string>& target, const std::string& help = "");
  Option AddFlag(const std::string& names, bool& target, const std::string& help = "");

  // Calls back during Parse, once, if the option is given: with its value (it may be given once), or with the
  // values of all the times that it is given, one each.
  Option OnValue(const std::string& name, const std::function<void(const std::string&)>& callback,
                 const std::string& help);
  Option OnEachValue(const std::string& name,
                     const std::function<void(const std::vector<std::string>&)>& callback,
                     const std::string& help);
  Option OnFlag(const std::string& name, std::function<void()> callback, const std::string& help);

  Command AddCommand(const std::string& name, const std::string& help);
  void Footer(const std::string& text);  // The end of --help.
  void Hide();                           // --help of the parent does not list it.
  void OnParsed(std::function<void()> callback);
  void TakeRest();  // Whatever follows the first word that is unknown is kept for Rest, options too.
  [[nodiscard]] std::vector<std::string> Rest() const;
  [[nodiscard]] bool IsGiven() const;

 protected:
  CLI::App* app_;
};

// Why a program ends after reading its command line: help or version was asked for (code 0), or a fault.
struct Ending {
  int code = 0;
  std::string out;  // For standard output.
  std::string err;  // For standard error.

  void Print() const;
};

class CommandLine : public Command {
 public:
  explicit CommandLine(const std::string& description, const std::string& program = "");
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  ~CommandLine();

  void AddVersion(const std::string& text,
                  const std::string& help = "Display program version information and exit");
  // One subcommand must be given. `global_options`: the program's own options may also follow it.
  void RequireCommand(bool global_options = false);

  // Sets the targets and calls back; nothing if the program is to go on.
  [[nodiscard]] std::optional<Ending> Parse(int argc, const char* const* argv);
  [[nodiscard]] std::string GivenCommand() const;  // After Parse, with RequireCommand.

 private:
  std::unique_ptr<CLI::App> owned_;
};

}  // namespace kasane::cli
