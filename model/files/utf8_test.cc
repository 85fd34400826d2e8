#include "model/files/utf8.h"

#include <gtest/gtest.h>

namespace kasane::files {
namespace {

TEST(Utf8Test, Valid) {
  for (const char* text : {"", "plain", "Köln", "重ね", "\xf4\x8f\xbf\xbf", "\xee\x80\x80"}) {
    EXPECT_TRUE(IsValidUtf8(text)) << text;
  }
}

TEST(Utf8Test, Invalid) {
  const char* texts[] = {"\x80",         "\xc0\x80",         "\xc3", "\xe0\x80\x80",
                         "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "\xc3("};
  for (const char* text : texts) EXPECT_FALSE(IsValidUtf8(text)) << text;
}

TEST(Utf8Test, CodePoints) {
  EXPECT_EQ(CodePoints("Köln"), 4U);
  EXPECT_EQ(FirstCodePoints("Köln", 2), "Kö");
  EXPECT_EQ(FirstCodePoints("Köln", 9), "Köln");
  EXPECT_EQ(FirstCodePoints("Köln", 0), "");
}

}  // namespace
}  // namespace kasane::files
