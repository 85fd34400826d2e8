#include "ctl/output/output.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>

#include "kasane/v1/agent.pb.h"
#include "kasane/v1/controller.pb.h"

namespace kasane::ctl {
namespace {

using nlohmann::ordered_json;

TEST(TableTest, ColumnsAreAligned) {
  Table table({{"NAME"}, {.title = "MTU", .right = true}, {"NOTE"}});
  table.Add({"shop", "1450", ""});
  table.Add({"Köln", "68", "ok"});
  EXPECT_EQ(table.ToString(),
            "NAME   MTU  NOTE\n"
            "shop  1450  -\n"
            "Köln    68  ok\n");
}

TEST(TableTest, LongTextIsCutOrWrapped) {
  Table table({{"CUT", 6}, {"WRAPPED", 12, true}, {"END"}});
  table.Add({"abcdefgh", "10.0.0.1, 10.0.0.2, 2001:db8::1:2:3:4", "x"});
  EXPECT_EQ(table.ToString(),
            "CUT     WRAPPED            END\n"
            "abcde…  10.0.0.1,          x\n"
            "        10.0.0.2,\n"
            "        2001:db8::1:2:3:4\n");
}

TEST(TableTest, WordsStayWholeUnlessTheyAreEndless) {
  Table table({{"WRAPPED", 10, true}, {"A"}, {"B"}});
  table.Add({"the quick,brown fox " + std::string(70, 'x'), "a", "b"});
  const auto padded = [](std::string text) { return text + std::string(64 - text.size(), ' '); };
  EXPECT_EQ(table.ToString(), padded("WRAPPED") + "  A  B\n" + padded("the quick,") + "  a  b\nbrown fox\n" +
                                  std::string(64, 'x') + "\n" + std::string(6, 'x') + "\n");
}

TEST(TableTest, ControlCharactersDoNotReachTheTerminal) {
  Table table({{"NAME"}, {"A"}, {"B"}});
  table.Add({"a\x1b[31mb", "c\nd", "e"});
  EXPECT_EQ(table.ToString(),
            "NAME     A    B\n"
            "a?[31mb  c?d  e\n");
}

TEST(TableTest, WideCharactersTakeTwoColumns) {
  Table table({{"NAME", 6}, {"A"}, {"B"}});
  table.Add({"重ね", "a", "b"});
  table.Add({"重ね重ね", "a\tb", "b"});
  EXPECT_EQ(table.ToString(),
            "NAME   A    B\n"
            "重ね   a    b\n"
            "重ね…  a b  b\n");
}

TEST(TableTest, WithoutRowsTheTitlesStand) {
  EXPECT_EQ(Table({{"ID"}, {"NAME"}, {"X"}}).ToString(), "ID  NAME  X\n");
}

TEST(YamlTest, BlockStyle) {
  const auto json = ordered_json::parse(R"({"a": {"b": [1, true, null, "x", "1", "yes", ""], "c": {}, "d": []},
      "e": [{"f": "g: h", "i": [{"j": 1}]}, []], "binding:host_id": "fa:16:3e:00:00:01"})");
  EXPECT_EQ(ToYaml(json), R"(a:
  b:
    - 1
    - true
    - null
    - x
    - "1"
    - "yes"
    - ""
  c: {}
  d: []
e:
  - f: "g: h"
    i:
      - j: 1
  - []
binding:host_id: fa:16:3e:00:00:01
)");
}

TEST(YamlTest, TextComesBackAsItWas) {
  const auto json = ordered_json::parse(
      R"({"a": ["重ね", "x\\ty\\nz", "\\u0007", "~", "1e3", "0x1f", "- a", "a: b", "null"]})");
  const YAML::Node read = YAML::Load(ToYaml(json));
  for (size_t i = 0; i < json["a"].size(); ++i)
    EXPECT_EQ(read["a"][i].as<std::string>(), json["a"][i].get<std::string>()) << i;
}

TEST(YamlTest, ScalarsAndEmptyDocuments) {
  EXPECT_EQ(ToYaml(ordered_json::object()), "{}\n");
  EXPECT_EQ(ToYaml(ordered_json("x")), "x\n");
}

TEST(ToJsonTest, EveryFieldUnderItsName) {
  v1::TraceVerdict verdict;
  verdict.set_delivered(true);
  verdict.set_vni(505);
  verdict.set_frame(std::string("\x00\xff", 2));
  EXPECT_EQ(
      ToJson(verdict).dump(),
      R"({"delivered":true,"port_id":"","port_name":"","remote_host":"","remote_address":"","vni":505,)"
      R"("drop_reason":"","frame":"00ff","packet":"","host":"","local_address":"","way":0,"answer":false})");
  v1::ListRequest request;
  request.mutable_filter()->add_kinds(v1::RESOURCE_KIND_PORT);
  EXPECT_EQ(
      ToJson(request).dump(),
      R"({"filter":{"kinds":["RESOURCE_KIND_PORT"],"network_id":"","host_id":"","project_id":""},"page_size":0,"page_token":""})");
  v1::HostStatus status;
  EXPECT_FALSE(ToJson(status).contains("applied"));  // An absent message is absent.
  status.mutable_applied()->set_counter(7);
  EXPECT_EQ(ToJson(status)["applied"]["counter"], 7);
}

TEST(RenderTest, InvalidUtf8IsReplacedNotThrown) {
  EXPECT_NE(Render(ordered_json("\xff"), Format::kJson).find("\xef\xbf\xbd"), std::string::npos);
}

TEST(WordsTest, CountsAndDurations) {
  EXPECT_EQ(Count(1, "port"), "1 port");
  EXPECT_EQ(Count(0, "port"), "0 ports");
  EXPECT_EQ(Duration(17), "17s");
  EXPECT_EQ(Duration(125), "2m 5s");
  EXPECT_EQ(Duration(7500), "2h 5m");
  EXPECT_EQ(Duration(2 * 86400 + 3 * 3600), "2d 3h");
}

}  // namespace
}  // namespace kasane::ctl
