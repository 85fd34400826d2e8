#include "base/edit_distance.h"

#include <gtest/gtest.h>

namespace kasane {
namespace {

TEST(EditDistanceTest, CountsChanges) {
  EXPECT_EQ(EditDistance("", "abc"), 3U);
  EXPECT_EQ(EditDistance("port", "port"), 0U);
  EXPECT_EQ(EditDistance("prot", "port"), 2U);
  EXPECT_EQ(EditDistance("networks", "network"), 1U);
}

TEST(EditDistanceTest, TheNearestName) {
  const std::string_view known[] = {"networks", "subnets", "ports", "routers"};
  EXPECT_EQ(Nearest("network", known), "networks");
  EXPECT_EQ(Nearest("prots", known), "ports");
  EXPECT_EQ(Nearest("colour", known), "");
  EXPECT_EQ(Nearest("xy", known), "");
  EXPECT_EQ(Nearest(std::string(1000, 'x'), known), "");
}

TEST(EditDistanceTest, DidYouMean) {
  EXPECT_EQ(DidYouMean("ports"), "; did you mean ports?");
  EXPECT_EQ(DidYouMean(""), "");
}

}  // namespace
}  // namespace kasane
