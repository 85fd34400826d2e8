#include "ctl/output/drops.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "kasane/v1/agent.pb.h"

namespace kasane::ctl {
namespace {

using ::testing::HasSubstr;

v1::ListDropsResponse Parse(const std::string& text) {
  v1::ListDropsResponse reply;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &reply));
  return reply;
}

constexpr char kRows[] = R"(
  drops { drop_reason: "no_route" owner_kind: "pipeline" packets: 7 bytes: 700 }
  drops { drop_reason: "spoofed_ip" owner_kind: "port" owner_id: "p1" owner_name: "web" network_id: "n1"
          network_name: "front" packets: 3 bytes: 294 })";

TEST(DropsTest, TextSaysWhomEachIsCountedFor) {
  const std::string text = DropsText(Parse(kRows), false);
  EXPECT_THAT(text, HasSubstr("no_route    any port"));
  EXPECT_THAT(text, HasSubstr("spoofed_ip  port web     front"));
  EXPECT_THAT(text, HasSubstr("the router has no route to the destination"));
  EXPECT_EQ(DropsText({}, false), "nothing was dropped\n");
  EXPECT_THAT(DropsText({}, true), HasSubstr("not told apart by port"));
}

TEST(DropsTest, OnlyWhatGrewIsInTheDifference) {
  const auto difference = DropsSince(Parse(kRows), Parse(R"(
    drops { drop_reason: "no_route" owner_kind: "pipeline" packets: 9 bytes: 900 }
    drops { drop_reason: "spoofed_ip" owner_kind: "port" owner_id: "p1" packets: 3 bytes: 294 }
    drops { drop_reason: "spoofed_ip" owner_kind: "port" owner_id: "p2" packets: 5 bytes: 10 })"));
  ASSERT_EQ(difference.drops_size(), 2);
  EXPECT_EQ(difference.drops(0).packets(), 2);
  EXPECT_EQ(difference.drops(0).bytes(), 200);
  EXPECT_EQ(difference.drops(1).packets(), 5);
}

TEST(DropsTest, ACounterThatWasInstalledAnewCountsFromZero) {
  const auto difference = DropsSince(
      Parse(kRows), Parse("drops { drop_reason: 'no_route' owner_kind: 'pipeline' packets: 4 bytes: 400 }"));
  ASSERT_EQ(difference.drops_size(), 1);
  EXPECT_EQ(difference.drops(0).packets(), 4);
  EXPECT_EQ(difference.drops(0).bytes(), 400);
}

TEST(DropsTest, Rates) {
  EXPECT_EQ(DropRatesText(Parse(kRows), 2.0),
            "      3.5/s  no_route             any port\n"
            "      1.5/s  spoofed_ip           port web, network front\n");
  EXPECT_EQ(DropRatesText({}, 1.0), "");
}

}  // namespace
}  // namespace kasane::ctl
