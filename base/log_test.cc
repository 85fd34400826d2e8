#include "base/log.h"

#include <gtest/gtest.h>

namespace kasane::log {
namespace {

TEST(LogTest, TextQuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(Render(Format::kText, "port is active", {{"port", "p-1"}, {"why", "two words"}, {"none", ""}}),
            R"(port is active port=p-1 why="two words" none="")");
  EXPECT_EQ(Render(Format::kText, "say \"it\"", {{"path", R"(a\b)"}, {"eq", "a=b"}}),
            R"(say "it" path="a\\b" eq="a=b")");
}

TEST(LogTest, InputCannotForgeALine) {
  EXPECT_EQ(Render(Format::kText, "name\n2026 error forged", {{"v", "x\n\x1b[31m"}}),
            R"(name\n2026 error forged v="x\n\u001b[31m")");
  EXPECT_EQ(Render(Format::kText, "\x7f\xff", {}), "\\u007f\xef\xbf\xbd") << "no UTF-8: replaced";
}

TEST(LogTest, Json) {
  EXPECT_EQ(Render(Format::kJson, "say \"it\"", {{"port", "p\t1"}, {"name", "重ね"}}),
            R"("message":"say \"it\"","port":"p\t1","name":"重ね")");
}

TEST(LogTest, AFileThatCannotBeOpenedIsNamed) {
  const absl::Status status = Configure({Level::kInfo, Format::kText, "/proc/no/such/file"});
  EXPECT_NE(std::string(status.message()).find("log file /proc/no/such/file"), std::string::npos);
}

}  // namespace
}  // namespace kasane::log
