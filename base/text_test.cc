#include "base/text.h"

#include <gtest/gtest.h>

namespace kasane {
namespace {

TEST(TextTest, ValidUtf8) {
  for (const char* text : {"", "plain", "Köln", "重ね", "\xf4\x8f\xbf\xbf", "\xee\x80\x80"}) {
    EXPECT_TRUE(IsValidUtf8(text)) << text;
  }
}

TEST(TextTest, InvalidUtf8) {
  const char* texts[] = {"\x80",         "\xc0\x80",         "\xc3", "\xe0\x80\x80",
                         "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "\xc3("};
  for (const char* text : texts) EXPECT_FALSE(IsValidUtf8(text)) << text;
}

TEST(TextTest, CountsCharacters) {
  EXPECT_EQ(CountCharacters("Köln"), 4U);
  EXPECT_EQ(CountCharacters("重ね"), 2U);
  EXPECT_EQ(CountCharacters("a\xff"), 2U);
}

TEST(TextTest, WidthInColumns) {
  EXPECT_EQ(DisplayWidth("Köln"), 4U);
  EXPECT_EQ(DisplayWidth("重ね"), 4U);
  EXPECT_EQ(DisplayWidth("e\xcc\x81"), 1U);  // e and a combining acute.
}

TEST(TextTest, FirstColumns) {
  EXPECT_EQ(FirstColumns("Köln", 2), "Kö");
  EXPECT_EQ(FirstColumns("Köln", 9), "Köln");
  EXPECT_EQ(FirstColumns("Köln", 0), "");
  EXPECT_EQ(FirstColumns("重ね", 3), "重");
  EXPECT_EQ(FirstColumns("e\xcc\x81x", 1), "e\xcc\x81");
}

}  // namespace
}  // namespace kasane
