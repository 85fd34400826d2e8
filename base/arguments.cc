#include "base/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <sstream>
#include <utility>

#include "base/edit_distance.h"

namespace kasane::cli {
namespace {

// CLI11 says only that a subcommand is missing where a word names none.
std::optional<Ending> UnknownCommand(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0 || !app.get_subcommands().empty()) return std::nullopt;
  const auto commands =
      app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
  if (commands.empty()) return std::nullopt;
  for (const std::string& word : app.remaining()) {
    if (word.starts_with('-')) continue;
    std::vector<std::string> names;
    for (const CLI::App* command : commands) names.push_back(command->get_name());
    const std::string_view nearest = Nearest(word, names);
    return Ending{error.get_exit_code(), "",
                  fmt::format("{}: '{}' is no command{}\nThere are {}; --help says what they do.\n",
                              app.get_name(), word.substr(0, 80), DidYouMean(nearest), fmt::join(names, ", "))};
  }
  return std::nullopt;
}

}  // namespace

Option Option::Required() { return Option(option_->required()); }
Option Option::ShowDefault() { return Option(option_->capture_default_str()); }
Option Option::Environment(const std::string& name) { return Option(option_->envname(name)); }
Option Option::ValueName(const std::string& name) { return Option(option_->type_name(name)); }
Option Option::OneOf(const std::vector<std::string>& words) {
  return Option(option_->check(CLI::IsMember(words)));
}
Option Option::Range(int64_t lowest, int64_t highest) {
  return Option(option_->check(CLI::Range(lowest, highest)));
}
Option Option::Positive() { return Option(option_->check(CLI::PositiveNumber)); }
bool Option::IsGiven() const { return option_->count() > 0; }

Option Command::AddOption(const std::string& names, std::string& target, const std::string& help) {
  return Option(app_->add_option(names, target, help));
}
Option Command::AddOption(const std::string& names, int& target, const std::string& help) {
  return Option(app_->add_option(names, target, help));
}
Option Command::AddOption(const std::string& names, uint16_t& target, const std::string& help) {
  return Option(app_->add_option(names, target, help));
}
Option Command::AddOption(const std::string& names, uint32_t& target, const std::string& help) {
  return Option(app_->add_option(names, target, help));
}
Option Command::AddOption(const std::string& names, uint64_t& target, const std::string& help) {
  return Option(app_->add_option(names, target, help));
}
Option Command::AddOption(const std::string& names, double& target, const std::string& help) {
  return Option(app_->add_option(names, target, help));
}
Option Command::AddOption(const std::string& names, std::vector<std::string>& target, const std::string& help) {
  return Option(app_->add_option(names, target, help));
}
Option Command::AddFlag(const std::string& names, bool& target, const std::string& help) {
  return Option(app_->add_flag(names, target, help));
}

Option Command::OnValue(const std::string& name, const std::function<void(const std::string&)>& callback,
                        const std::string& help) {
  return Option(app_->add_option_function<std::string>(name, callback, help));
}

Option Command::OnEachValue(const std::string& name,
                            const std::function<void(const std::vector<std::string>&)>& callback,
                            const std::string& help) {
  return Option(app_->add_option_function<std::vector<std::string>>(name, callback, help)
                    ->expected(1)
                    ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll));
}

Option Command::OnFlag(const std::string& name, std::function<void()> callback, const std::string& help) {
  return Option(app_->add_flag_callback(name, std::move(callback), help));
}

Command Command::AddCommand(const std::string& name, const std::string& help) {
  return Command(app_->add_subcommand(name, help));
}
void Command::Footer(const std::string& text) { app_->footer(text); }
void Command::Hide() { app_->group(""); }
void Command::OnParsed(std::function<void()> callback) { app_->callback(std::move(callback)); }
void Command::TakeRest() { app_->prefix_command(); }
std::vector<std::string> Command::Rest() const { return app_->remaining(); }
bool Command::IsGiven() const { return app_->parsed(); }

void Ending::Print() const {
  std::fputs(out.c_str(), stdout);
  std::fputs(err.c_str(), stderr);
}

CommandLine::CommandLine(const std::string& description, const std::string& program)
    : Command(nullptr), owned_(std::make_unique<CLI::App>(description, program)) {
  app_ = owned_.get();
}
CommandLine::~CommandLine() = default;

void CommandLine::AddVersion(const std::string& text, const std::string& help) {
  app_->set_version_flag("--version", text, help);
}

void CommandLine::RequireCommand(bool global_options) {
  app_->require_subcommand(1);
  app_->fallthrough(global_options);
}

std::optional<Ending> CommandLine::Parse(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (const auto ending = UnknownCommand(*app_, error)) return ending;
    std::ostringstream out;
    std::ostringstream err;
    const int code = app_->exit(error, out, err);
    return Ending{code, out.str(), err.str()};
  }
  return std::nullopt;
}

std::string CommandLine::GivenCommand() const { return app_->get_subcommands().front()->get_name(); }

}  // namespace kasane::cli
