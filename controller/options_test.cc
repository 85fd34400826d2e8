#include "controller/options.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "controller/test_support.h"

namespace kasane::controller {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class OptionsTest : public testing::Test {
 protected:
  std::variant<Options, ExitNow> Read(std::vector<std::string> arguments) {
    std::vector<const char*> argv = {"kasane-controller"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    return ReadOptions(static_cast<int>(argv.size()), argv.data());
  }

  std::variant<Options, ExitNow> ReadFile(const std::string& text, std::vector<std::string> arguments = {}) {
    std::ofstream(file_) << text;
    arguments.insert(arguments.begin(), {"--config", file_});
    return Read(std::move(arguments));
  }

  static std::string Refusal(const std::variant<Options, ExitNow>& result) {
    const auto* exit = std::get_if<ExitNow>(&result);
    if (exit == nullptr) return "accepted";
    EXPECT_NE(exit->code, 0);
    return exit->text;
  }

  TemporaryDirectory directory_;
  std::string file_ = directory_.File("controller.yaml");
};

TEST_F(OptionsTest, ListensOnLoopbackByDefault) {
  const Options options = std::get<Options>(Read({}));
  EXPECT_EQ(options.listen.ToString(), "127.0.0.1:6650");
  EXPECT_EQ(options.store, "/var/lib/kasane/controller.db");
  EXPECT_EQ(options.log.level, log::Level::kInfo);
}

TEST_F(OptionsTest, AFlagWinsOverTheFile) {
  const auto result =
      ReadFile("listen: \"[::1]:7000\"\nstore: /tmp/a\nlog_format: json\n", {"--store", "/tmp/b"});
  const Options options = std::get<Options>(result);
  EXPECT_EQ(options.listen.ToString(), "[::1]:7000");
  EXPECT_EQ(options.store, "/tmp/b");
  EXPECT_EQ(options.log.format, log::Format::kJson);
}

TEST_F(OptionsTest, AnAddressThatIsNotLoopbackNeedsInsecure) {
  EXPECT_THAT(Refusal(Read({"--listen", "192.0.2.1:6650"})),
              AllOf(HasSubstr("--listen: 192.0.2.1:6650"), HasSubstr("mutual TLS is not there yet"),
                    HasSubstr("--insecure")));
  EXPECT_THAT(Refusal(Read({"--listen", "[::]:6650"})), HasSubstr("--insecure"));
  EXPECT_TRUE(std::get<Options>(Read({"--listen", "192.0.2.1:6650", "--insecure"})).insecure);
  EXPECT_EQ(std::get<Options>(Read({"--listen", "localhost:1"})).listen.ToString(), "127.0.0.1:1");
}

TEST_F(OptionsTest, InsecureTakesTheWordsThatTheAgentTakes) {
  for (const char* word : {"true", "yes", "on"}) {
    EXPECT_TRUE(std::get<Options>(ReadFile(fmt::format("insecure: {}\n", word))).insecure) << word;
  }
  for (const char* word : {"false", "no", "off"}) {
    EXPECT_FALSE(std::get<Options>(ReadFile(fmt::format("insecure: {}\n", word))).insecure) << word;
  }
  EXPECT_THAT(Refusal(ReadFile("insecure: maybe\n")), HasSubstr(":1: insecure: \"maybe\" is none of false"));
}

TEST_F(OptionsTest, NamesEveryFaultWithItsLine) {
  const std::string text =
      Refusal(ReadFile("lisen: 127.0.0.1:1\nlog_level: loud\nstore: [a]\nlog_level: info\n"));
  EXPECT_THAT(text, AllOf(HasSubstr(file_ + ":1: \"lisen\" is no key"),
                          HasSubstr(file_ + ":3: store must be one value"),
                          HasSubstr(file_ + ":2: log_level: \"loud\" is none of debug, info, warning, error"),
                          HasSubstr(file_ + ":4: log_level is given twice")));
  EXPECT_THAT(Refusal(ReadFile("a: [")), HasSubstr(file_ + ":"));
  EXPECT_THAT(Refusal(Read({"--config", directory_.File("none")})), HasSubstr("cannot be read: No such file"));
  EXPECT_THAT(Refusal(Read({"--listen", "6650"})), HasSubstr("has no port; write HOST:PORT"));
  EXPECT_THAT(Refusal(Read({"--listen", "::1:6650"})), HasSubstr("[::1]:6650"));
  EXPECT_THAT(Refusal(Read({"--listen", "127.0.0.1:66500"})), HasSubstr("\"66500\" is not a port"));
}

TEST_F(OptionsTest, HelpAndVersionExitWithSuccess) {
  const auto help = std::get<ExitNow>(Read({"--help"}));
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.text, AllOf(HasSubstr("--listen"), HasSubstr("Try it:")));
  EXPECT_THAT(std::get<ExitNow>(Read({"--version"})).text, testing::StartsWith("kasane-controller "));
}

}  // namespace
}  // namespace kasane::controller
