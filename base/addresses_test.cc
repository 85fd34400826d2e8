#include <gtest/gtest.h>

#include "base/ip_address.h"
#include "base/mac_address.h"
#include "base/vni.h"

namespace kasane {
namespace {

TEST(MacAddressTest, ParsesBothCasesAndPrintsLower) {
  EXPECT_EQ(MacAddress::Parse("FA:16:3e:0A:bc:01")->ToString(), "fa:16:3e:0a:bc:01");
}

TEST(MacAddressTest, RefusesEverythingElse) {
  for (const char* text : {"", "fa:16:3e:0a:bc", "fa:16:3e:0a:bc:01:02", "fa-16-3e-0a-bc-01",
                           "fa:16:3e:0a:bc:0g", "fa163e0abc01", " fa:16:3e:0a:bc:0", "+a:16:3e:0a:bc:01"}) {
    EXPECT_FALSE(MacAddress::Parse(text).ok()) << text;
  }
}

TEST(IpAddressTest, ParseIsStrict) {
  for (const char* text : {"", "10.0.0", "10.0.0.256", "10.0.0.01", "10.0.0.1 ", "10.0.0.1/24", "::g",
                           "fe80::1%eth0", "1.2.3.4.5", "0x0a000001"}) {
    EXPECT_FALSE(IpAddress::Parse(text).ok()) << text;
  }
  EXPECT_FALSE(IpAddress::Parse(std::string_view("10.0.0.1\0x", 10)).ok());
  EXPECT_EQ(IpAddress::Parse("2001:DB8:0::1")->ToString(), "2001:db8::1");
  EXPECT_TRUE(IpAddress::Parse("::ffff:10.0.0.1")->is_v6());
}

TEST(IpAddressTest, LinkLocalIsModifiedEui64) {
  EXPECT_EQ(IpAddress::LinkLocal(*MacAddress::Parse("fa:16:3e:b4:80:20")).ToString(),
            "fe80::f816:3eff:feb4:8020");
}

TEST(IpAddressTest, MulticastMapping) {
  EXPECT_EQ(SolicitedNode(*IpAddress::Parse("2001:db8::12:3456")).ToString(), "ff02::1:ff12:3456");
  EXPECT_EQ(MulticastMac(*IpAddress::Parse("ff02::1:ff12:3456")).ToString(), "33:33:ff:12:34:56");
  EXPECT_EQ(MulticastMac(*IpAddress::Parse("239.129.2.3")).ToString(), "01:00:5e:01:02:03");
}

TEST(IpPrefixTest, RefusesHostBitsAndBadLengths) {
  for (const char* text : {"10.0.0.1/24", "10.0.0.0", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/2x",
                           "::/129", "/24", "10.0.0.0/24/8"}) {
    EXPECT_FALSE(IpPrefix::Parse(text).ok()) << text;
  }
  EXPECT_NE(Message(IpPrefix::Parse("10.0.0.1/24").status()).find("10.0.0.0/24"), std::string::npos)
      << "the message must offer the fixed text";
}

TEST(IpPrefixTest, LenientMasksAndCompletes) {
  EXPECT_EQ(IpPrefix::ParseLenient("10.0.0.9/24")->ToString(), "10.0.0.0/24");
  EXPECT_EQ(IpPrefix::ParseLenient("2001:db8::1")->ToString(), "2001:db8::1/128");
}

TEST(IpPrefixTest, ContainsAndOverlaps) {
  const IpPrefix odd = *IpPrefix::Parse("10.0.0.128/25");
  EXPECT_TRUE(odd.Contains(*IpAddress::Parse("10.0.0.255")));
  EXPECT_FALSE(odd.Contains(*IpAddress::Parse("10.0.0.127")));
  EXPECT_FALSE(odd.Contains(*IpAddress::Parse("::")));
  EXPECT_TRUE(IpPrefix::Parse("0.0.0.0/0")->Overlaps(odd));
  EXPECT_TRUE(odd.Overlaps(*IpPrefix::Parse("10.0.0.128/32")));
  EXPECT_FALSE(odd.Overlaps(*IpPrefix::Parse("10.0.0.0/25")));
  EXPECT_FALSE(IpPrefix::Parse("::/0")->Overlaps(*IpPrefix::Parse("0.0.0.0/0")));
}

TEST(VniTest, Is24BitsAndNotZero) {
  EXPECT_FALSE(Vni::From(0).ok());
  EXPECT_TRUE(Vni::From(16777215).ok());
  EXPECT_FALSE(Vni::From(16777216).ok());
}

}  // namespace
}  // namespace kasane
