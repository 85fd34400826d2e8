#include "model/network_state.h"

#include <gtest/gtest.h>

namespace kasane::model {
namespace {

TEST(KindTest, EveryKindIsReadBackFromBothItsForms) {
  for (const Kind kind : kAllKinds) {
    EXPECT_EQ(KindFromText(Label(kind)), kind) << Label(kind);
    EXPECT_EQ(KindFromText(Plural(kind)), kind) << Plural(kind);
  }
}

TEST(KindTest, SpellingsOfPeopleAndOfNeutron) {
  EXPECT_EQ(KindFromText("security-groups"), Kind::kSecurityGroup);
  EXPECT_EQ(KindFromText("security-group"), Kind::kSecurityGroup);
  EXPECT_EQ(KindFromText("floating-ips"), Kind::kFloatingIp);
  EXPECT_EQ(KindFromText("floatingip"), Kind::kFloatingIp);
  EXPECT_EQ(KindFromText("quotas"), std::nullopt);
  EXPECT_EQ(KindFromText(""), std::nullopt);
}

TEST(ResourceKeyTest, Text) { EXPECT_EQ(ToString(ResourceKey{Kind::kPort, "p1"}), "port p1"); }

}  // namespace
}  // namespace kasane::model
