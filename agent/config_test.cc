#include "agent/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "agent/command_line.h"

namespace kasane::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct Read {
  AgentConfig config;
  std::vector<std::string> faults;
};

Read ReadText(const std::string& text) {
  std::vector<ConfigFault> faults;
  const ConfigEntries entries = ParseConfig("a.yaml", text, faults);
  Read read;
  read.config = ValidateConfig(entries, "this-host", faults);
  for (const ConfigFault& fault : faults) read.faults.push_back(ToString(fault));
  return read;
}

TEST(ConfigTest, DefaultsWithTheOneRequiredKey) {
  const Read read = ReadText("tunnel_addresses: [192.0.2.11]\n");
  EXPECT_THAT(read.faults, IsEmpty());
  EXPECT_EQ(read.config.host_id, HostId("this-host"));
  EXPECT_EQ(read.config.controller_target, "ipv4:127.0.0.1:6650");
  EXPECT_EQ(read.config.tunnel_addresses.v4, *IpAddress::Parse("192.0.2.11"));
  EXPECT_FALSE(read.config.tunnel_addresses.v6);
  EXPECT_EQ(read.config.admin_socket, "/run/kasane/agent.sock");
  EXPECT_EQ(read.config.datapath.bridge, "br-int");
  EXPECT_EQ(read.config.datapath.datapath_type, "auto");
  EXPECT_EQ(read.config.log.level, log::Level::kInfo);
}

TEST(ConfigTest, EveryKey) {
  const Read read = ReadText(R"(
host_id: hv1
controller: "[2001:db8::1]:7000"
insecure: true
tunnel_addresses: [2001:db8::11, 192.0.2.11]
admin_socket: /run/a.sock
state_dir: /var/lib/a
datapath:
  type: ovs
  ovs_run_dir: /run/ovs-a
  bridge: br-a
  datapath_type: netdev
  replication_rate: 50
log: {level: debug, format: json, file: /var/log/a.log}
)");
  EXPECT_THAT(read.faults, IsEmpty());
  EXPECT_EQ(read.config.host_id, HostId("hv1"));
  EXPECT_EQ(read.config.controller_target, "ipv6:[2001:db8::1]:7000");
  EXPECT_TRUE(read.config.tunnel_addresses.v4 && read.config.tunnel_addresses.v6);
  EXPECT_EQ(read.config.datapath.ovs_run_dir, "/run/ovs-a");
  EXPECT_EQ(read.config.datapath.replication_rate, 50U);
  EXPECT_EQ(read.config.log.format, log::Format::kJson);
  EXPECT_EQ(read.config.log.file, "/var/log/a.log");
}

TEST(ConfigTest, EveryFaultAtOnceWithLineKeyAndFix) {
  const Read read = ReadText(R"(controler: 127.0.0.1:1
controller: 192.0.2.1:6650
tunnel_addresses: [192.0.2.300, 127.0.0.1, 192.0.2.1, 192.0.2.2]
admin_socket: agent.sock
datapath:
  brigde: br-x
  bridge: this-name-is-too-long
  datapath_type: kernel
  replication_rate: -1
bridge: br-y
log: verbose
insecure: maybe
insecure: true
)");
  EXPECT_THAT(
      read.faults,
      ElementsAre("a.yaml:1: controler: unknown key; did you mean controller?",
                  "a.yaml:6: datapath.brigde: unknown key; did you mean datapath.bridge?",
                  "a.yaml:10: bridge: unknown key; did you mean datapath.bridge?",
                  "a.yaml:11: log: is a section: write its keys indented below it",
                  "a.yaml:13: insecure: is set already at a.yaml:12: remove one",
                  "a.yaml:12: insecure: \"maybe\" is neither true nor false",
                  AllOf(StartsWith("a.yaml:2: controller: "), HasSubstr("mutual TLS"), HasSubstr("--insecure")),
                  AllOf(StartsWith("a.yaml:3: tunnel_addresses: "), HasSubstr("192.0.2.300")),
                  AllOf(StartsWith("a.yaml:3: tunnel_addresses: 127.0.0.1 is"), HasSubstr("loopback")),
                  AllOf(StartsWith("a.yaml:3: tunnel_addresses: "), HasSubstr("at most one of each")),
                  StartsWith("a.yaml:4: admin_socket: \"agent.sock\" is no absolute path"),
                  StartsWith("a.yaml:7: datapath.bridge: must be 1 to 15"),
                  "a.yaml:8: datapath.datapath_type: \"kernel\" is none of auto, netdev, system",
                  "a.yaml:9: datapath.replication_rate: \"-1\" is not a number from 0 to 10000000"));
}

TEST(ConfigTest, TextThatIsNoConfiguration) {
  EXPECT_THAT(ReadText("a: [").faults.front(), StartsWith("a.yaml:1: is not YAML: "));
  EXPECT_THAT(ReadText("- a").faults.front(), StartsWith("a.yaml:1: must be a map"));
  EXPECT_THAT(ReadText("tunnel_addresses: {a: b}").faults.front(), HasSubstr("must be a list of plain values"));
  EXPECT_THAT(ReadText("").faults, ElementsAre(StartsWith("tunnel_addresses: is missing")));
}

TEST(ConfigTest, ControllerAddresses) {
  struct Case {
    const char* text;
    const char* target;  // Null: refused.
  };
  const Case cases[] = {
      {"127.0.0.2:1", "ipv4:127.0.0.2:1"},
      {"[::1]:65535", "ipv6:[::1]:65535"},
      {"localhost:80", "dns:localhost:80"},
      {"127.0.0.1", nullptr},
      {"127.0.0.1:0", nullptr},
      {"127.0.0.1:65536", nullptr},
      {"::1:6650", nullptr},
      {"[127.0.0.1]:1", nullptr},
      {"unix:/tmp/x:1", nullptr},
      {"1.2.3:4", nullptr},
      {":6650", nullptr},
      {"other-host:6650", nullptr},
  };
  for (const Case& c : cases) {
    const Read read = ReadText(std::string("tunnel_addresses: [192.0.2.1]\ncontroller: \"") + c.text + "\"\n");
    EXPECT_EQ(read.faults.empty(), c.target != nullptr) << c.text;
    if (c.target != nullptr) {
      EXPECT_EQ(read.config.controller_target, c.target);
    }
  }
}

class CommandLineTest : public ::testing::Test {
 protected:
  CommandLineTest() {
    const int fd = mkstemp(file_.data());
    EXPECT_GE(fd, 0);
    close(fd);
  }
  ~CommandLineTest() override { std::remove(file_.c_str()); }

  std::variant<AgentConfig, ExitNow> Run(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "kasaned");
    return ReadCommandLine(static_cast<int>(arguments.size()), arguments.data());
  }
  ExitNow RunToExit(const std::vector<const char*>& arguments) {
    const std::variant<AgentConfig, ExitNow> result = Run(arguments);
    EXPECT_TRUE(std::holds_alternative<ExitNow>(result));
    return std::holds_alternative<ExitNow>(result) ? std::get<ExitNow>(result) : ExitNow{-1, ""};
  }
  void Write(const std::string& text) { std::ofstream(file_) << text; }

  std::string file_ = "/tmp/kasane_config_test_XXXXXX";
};

TEST_F(CommandLineTest, FlagsWinOverTheFile) {
  Write("host_id: from-file\ncontroller: 127.0.0.1:1\ntunnel_addresses: [192.0.2.1]\n");
  const auto result = Run({"--config", file_.c_str(), "--host-id", "from-flag", "--bridge", "br-x"});
  ASSERT_TRUE(std::holds_alternative<AgentConfig>(result)) << std::get<ExitNow>(result).text;
  const auto& config = std::get<AgentConfig>(result);
  EXPECT_EQ(config.host_id, HostId("from-flag"));
  EXPECT_EQ(config.controller, "127.0.0.1:1");
  EXPECT_EQ(config.datapath.bridge, "br-x");
}

TEST_F(CommandLineTest, TunnelAddressRepeatsAndInsecureTakesNoValue) {
  Write("");
  const auto result = Run({"--config", file_.c_str(), "--tunnel-address", "192.0.2.1", "--tunnel-address",
                           "2001:db8::1", "--controller", "192.0.2.9:6650", "--insecure"});
  ASSERT_TRUE(std::holds_alternative<AgentConfig>(result)) << std::get<ExitNow>(result).text;
  const auto& config = std::get<AgentConfig>(result);
  EXPECT_TRUE(config.tunnel_addresses.v4 && config.tunnel_addresses.v6);
  EXPECT_TRUE(config.insecure);
}

TEST_F(CommandLineTest, CheckSaysGoodOrEveryFault) {
  Write("tunnel_addresses: [192.0.2.1]\n");
  const ExitNow good = RunToExit({"--check", "--config", file_.c_str(), "--host-id", "hv1"});
  EXPECT_EQ(good.code, 0);
  EXPECT_EQ(good.text, "the configuration is good (host hv1)\n");

  const ExitNow bad = RunToExit({"--check", "--config", file_.c_str(), "--bridge", "", "--log-level", "loud"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.text, AllOf(HasSubstr("kasaned: --bridge: datapath.bridge: must be"),
                              HasSubstr("kasaned: --log-level: log.level: \"loud\" is none of debug")));
}

TEST_F(CommandLineTest, FlagFaultsHelpAndMissingFile) {
  EXPECT_EQ(RunToExit({"--no-such-flag"}).code, 2);
  EXPECT_EQ(RunToExit({"--config", "/nonexistent/agent.yaml"}).code, 1);
  EXPECT_THAT(RunToExit({"--config", "/nonexistent/agent.yaml"}).text,
              HasSubstr("cannot be read: No such file"));
  const ExitNow help = RunToExit({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const ConfigKey& key : ConfigKeys()) EXPECT_THAT(help.text, HasSubstr(std::string(key.flag)));
  EXPECT_THAT(RunToExit({"--version"}).text, StartsWith("kasaned "));
}

}  // namespace
}  // namespace kasane::agent
