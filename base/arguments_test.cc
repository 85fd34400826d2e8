#include "base/arguments.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kasane::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::optional<Ending> Parse(CommandLine& app, std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "program");
  return app.Parse(static_cast<int>(arguments.size()), arguments.data());
}

TEST(ArgumentsTest, SetTheirTargets) {
  CommandLine app("Tries.", "program");
  std::string port;
  std::vector<std::string> files;
  uint16_t ttl = 64;
  double timeout = 1;
  bool wait = true;
  const Option given = app.AddOption("--ttl", ttl).Range(0, 255);
  app.AddOption("PORT", port).Required();
  app.AddOption("-f,--file", files);
  const Option not_given = app.AddOption("--timeout", timeout).Positive();
  app.AddFlag("!--no-wait", wait);
  EXPECT_FALSE(Parse(app, {"vm1", "-f", "a", "--file", "b", "--ttl", "255", "--no-wait"}));
  EXPECT_EQ(port, "vm1");
  EXPECT_THAT(files, ElementsAre("a", "b"));
  EXPECT_EQ(ttl, 255);
  EXPECT_FALSE(wait);
  EXPECT_TRUE(given.IsGiven());
  EXPECT_FALSE(not_given.IsGiven());
  EXPECT_EQ(timeout, 1);
}

TEST(ArgumentsTest, AFaultNamesTheOption) {
  CommandLine app("Tries.", "program");
  std::string form = "table";
  uint16_t ttl = 64;
  int count = 0;
  double timeout = 1;
  app.AddOption("--output", form).OneOf({"table", "json"});
  app.AddOption("--ttl", ttl).Range(0, 255);
  app.AddOption("--count", count);
  app.AddOption("--timeout", timeout).Positive();
  const std::vector<std::vector<const char*>> wrong = {{"--output", "xml"}, {"--ttl", "256"},   {"--ttl", "-1"},
                                                       {"--count", "many"}, {"--timeout", "0"}, {"--count"}};
  for (const auto& arguments : wrong) {
    const auto ending = Parse(app, arguments);
    ASSERT_TRUE(ending) << arguments.back();
    EXPECT_NE(ending->code, 0);
    EXPECT_THAT(ending->err, HasSubstr(arguments.front()));
    EXPECT_EQ(ending->out, "");
  }
}

TEST(ArgumentsTest, CallBackWithWhatIsGiven) {
  CommandLine app("Tries.", "program");
  std::string one;
  std::vector<std::string> each;
  int flags = 0;
  app.OnValue(
      "--one", [&one](const std::string& value) { one = value; }, "");
  app.OnEachValue(
      "--each", [&each](const std::vector<std::string>& values) { each = values; }, "");
  app.OnFlag(
      "--flag", [&flags] { ++flags; }, "");
  EXPECT_FALSE(Parse(app, {"--each", "a", "--one", "1", "--each", "b"}));
  EXPECT_EQ(one, "1");
  EXPECT_THAT(each, ElementsAre("a", "b"));
  EXPECT_EQ(flags, 0);
  EXPECT_FALSE(Parse(app, {"--flag"}));
  EXPECT_EQ(flags, 1);
  EXPECT_TRUE(Parse(app, {"--one", "1", "--one", "2"}));
}

TEST(ArgumentsTest, ACommandIsRequiredAndMayTakeTheRest) {
  const auto parse = [](std::vector<const char*> arguments) {
    CommandLine app("Tries.", "program");
    std::string name;
    app.RequireCommand();  // With global options, what follows a command would be the program's first.
    app.AddOption("--name", name);
    bool called = false;
    Command exec = app.AddCommand("exec", "Runs a command");
    exec.TakeRest();
    Command status = app.AddCommand("status", "Says how it is");
    status.OnParsed([&called] { called = true; });
    if (const auto ending = Parse(app, std::move(arguments))) return "ending " + ending->err;
    if (exec.IsGiven()) return fmt::format("{} {}", app.GivenCommand(), fmt::join(exec.Rest(), " "));
    return fmt::format("{} {} {}", app.GivenCommand(), name, called);
  };
  EXPECT_EQ(parse({"exec", "vm1", "ls", "-l"}), "exec vm1 ls -l");
  EXPECT_EQ(parse({"--name", "lab2", "status"}), "status lab2 true");
  EXPECT_THAT(parse({}), HasSubstr("A subcommand is required"));
}

TEST(ArgumentsTest, HelpShowsDefaultsAndHidesWhatIsHidden) {
  CommandLine app("Tries.", "program");
  int rate = 1000;
  app.AddOption("--rate", rate, "Packets per second").ShowDefault();
  app.AddVersion("program 1.2");
  app.AddCommand("shown", "Of use");
  app.AddCommand("hidden", "Of none").Hide();
  app.Footer("At the end.");
  const auto help = Parse(app, {"--help"});
  ASSERT_TRUE(help);
  EXPECT_EQ(help->code, 0);
  EXPECT_THAT(help->out, HasSubstr("--rate INT=1000"));
  EXPECT_THAT(help->out, HasSubstr("At the end."));
  EXPECT_THAT(help->out, HasSubstr("shown"));
  EXPECT_THAT(help->out, testing::Not(HasSubstr("hidden")));
  const auto version = Parse(app, {"--version"});
  ASSERT_TRUE(version);
  EXPECT_EQ(version->out, "program 1.2\n");
}

}  // namespace
}  // namespace kasane::cli
