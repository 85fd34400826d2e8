#include "model/files/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status.h"

namespace kasane::files {
namespace {

using ::testing::HasSubstr;

ValuePtr Parse(const std::string& text) {
  auto document = ParseDocument(text);
  EXPECT_TRUE(document.ok()) << Message(document.status());
  return document.ok() ? *document : std::make_shared<const Value>();
}

std::string ErrorOf(const std::string& text) {
  const auto document = ParseDocument(text);
  return document.ok() ? "" : Message(document.status());
}

TEST(DocumentTest, ScalarsAreNotGuessedAt) {
  const auto document = Parse("a: 010\nb: '5'\nc: yes\nd: true\ne: ~\nf: ''\ng: -3\nh: 1.5\ni: \"null\"\n");
  const auto type = [&](size_t i) { return TypeName(*document->fields[i].second); };
  EXPECT_EQ(document->fields[0].second->text, "010");
  EXPECT_EQ(type(0), "a number");
  EXPECT_EQ(type(1), "a string");
  EXPECT_EQ(type(2), "a string");
  EXPECT_EQ(type(3), "a boolean");
  EXPECT_EQ(type(4), "null");
  EXPECT_EQ(type(5), "a string");
  EXPECT_EQ(type(6), "a number");
  EXPECT_EQ(type(7), "a string");
  EXPECT_EQ(type(8), "a string");
}

TEST(DocumentTest, JsonWithLines) {
  const auto document = Parse("{\"ports\": [\n {\"id\": \"p1\"},\n {\"id\": null}\n]}");
  const Value& ports = *document->fields.at(0).second;
  ASSERT_EQ(ports.items.size(), 2U);
  EXPECT_EQ(ports.items[1]->line, 3);
  EXPECT_EQ(ports.items[0]->fields[0].second->text, "p1");
  EXPECT_EQ(ports.items[1]->fields[0].second->type, Value::Type::kNull);
}

TEST(DocumentTest, DuplicateKeysStayVisible) { EXPECT_EQ(Parse("a: 1\na: 2\n")->fields.size(), 2U); }

TEST(DocumentTest, NothingIsNull) {
  EXPECT_EQ(Parse("")->type, Value::Type::kNull);
  EXPECT_EQ(Parse("# a comment\n")->type, Value::Type::kNull);
}

TEST(DocumentTest, AliasesShareTheirValue) {
  const auto document = Parse("a: &x [1, 2]\nb: *x\n");
  EXPECT_EQ(document->fields[0].second, document->fields[1].second);
}

TEST(DocumentTest, Errors) {
  EXPECT_THAT(ErrorOf("ports: [\n"), HasSubstr("not YAML or JSON"));
  EXPECT_THAT(ErrorOf("a: b\n\tc: d\n"), HasSubstr("line 2, column 1"));
  EXPECT_THAT(ErrorOf("a: 1\n---\nb: 2\n"), HasSubstr("a second document begins"));
  EXPECT_THAT(ErrorOf("[a]: 1\n"), HasSubstr("a list stands where a field name is expected"));
  EXPECT_THAT(ErrorOf("a: *nobody\n"), HasSubstr("line 1"));
  EXPECT_THAT(ErrorOf("a: &x [*x]\n"), HasSubstr("refers to something that contains it"));
}

TEST(DocumentTest, DepthIsBounded) {
  EXPECT_EQ(ErrorOf(std::string(kMaxDocumentDepth, '[') + std::string(kMaxDocumentDepth, ']')), "");
  EXPECT_THAT(ErrorOf(std::string(kMaxDocumentDepth + 1, '[') + std::string(kMaxDocumentDepth + 1, ']')),
              HasSubstr("nested deeper than 32 levels"));
  EXPECT_THAT(ErrorOf(std::string(1000000, '[')), HasSubstr("nested deeper"));
}

TEST(DocumentTest, AnAliasBombIsDefused) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    text += fmt::format("a{}: &a{} [", i, i);
    for (int k = 0; k < 10; ++k) text += fmt::format("*a{}, ", i - 1);
    text += "]\n";
  }
  EXPECT_THAT(ErrorOf(text), HasSubstr("aliases expanded"));
}

TEST(DocumentTest, SizeIsBounded) {
  EXPECT_THAT(ErrorOf(std::string(DocumentLimits().bytes + 1, ' ')), HasSubstr("at most 67108864 are read"));
}

}  // namespace
}  // namespace kasane::files
