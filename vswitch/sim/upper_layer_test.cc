#include "vswitch/sim/upper_layer.h"

#include <gtest/gtest.h>

#include <vector>

#include "vswitch/packet/packet.h"

namespace kasane::sim {
namespace {

using Bytes = std::vector<uint8_t>;

// An IPv6 frame whose first header is `next`, with everything else that matters in `payload`.
Bytes Ipv6(uint8_t next, const Bytes& payload) {
  Bytes frame(14 + 40, 0);
  frame[12] = 0x86;
  frame[13] = 0xdd;
  frame[14] = 0x60;
  frame[19] = static_cast<uint8_t>(payload.size());
  frame[20] = next;
  frame[21] = 255;
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

Bytes Joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

const Bytes kAuthenticationThenDestination = {60, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0};
const Bytes kDestinationThenIcmp = {58, 0, 1, 4, 0, 0, 0, 0};
const Bytes kAdvertisement = {134, 0, 0, 0, 0, 0, 0, 0};

TEST(UpperLayerTest, IsBehindEveryExtensionHeader) {
  const Bytes frame = Ipv6(51, Joined({kAuthenticationThenDestination, kDestinationThenIcmp, kAdvertisement}));
  const auto upper = FindUpperLayer(frame);
  ASSERT_TRUE(upper);
  EXPECT_EQ(upper->protocol, 58);
  ASSERT_EQ(upper->message.size(), kAdvertisement.size());
  EXPECT_EQ(upper->message[0], 134);
}

TEST(UpperLayerTest, AgreesWithTheParserThatTheWalkUses) {
  const Bytes frame = Ipv6(51, Joined({kAuthenticationThenDestination, kDestinationThenIcmp, kAdvertisement}));
  const packet::Packet packet(frame);
  EXPECT_EQ(packet.ip_proto(), 58);
  ASSERT_TRUE(packet.has_icmp());
  EXPECT_EQ(packet.icmp_type(), 134);
}

TEST(UpperLayerTest, AHeaderCutShortIsNone) {
  EXPECT_FALSE(FindUpperLayer(Ipv6(51, {60, 9, 0, 0, 0, 0, 0, 1})));
  EXPECT_FALSE(FindUpperLayer(Ipv6(0, {58, 0})));
  EXPECT_FALSE(FindUpperLayer(Bytes(60, 0)));
}

TEST(UpperLayerTest, AFirstFragmentMayHideWhatItIs) {
  const Bytes fragment = {60, 0, 0, 1, 0, 0, 0, 9};
  const auto hides = [](const Bytes& frame) { return HidesItsHeader(FindUpperLayer(frame).value()); };
  EXPECT_TRUE(hides(Ipv6(44, Joined({fragment, kDestinationThenIcmp}))));
  EXPECT_FALSE(hides(Ipv6(44, Joined({fragment, kDestinationThenIcmp, kAdvertisement}))));
  const Bytes whole = {60, 0, 0, 0, 0, 0, 0, 9};
  EXPECT_FALSE(hides(Ipv6(44, Joined({whole, kDestinationThenIcmp})))) << "no fragment (RFC 6946)";
  const Bytes later = {60, 0, 0, 9, 0, 0, 0, 9};
  EXPECT_TRUE(FindUpperLayer(Ipv6(44, later)).value().later_fragment);
}

Bytes Solicitation(const Bytes& options) {
  Bytes message(24, 0);
  message[0] = 135;
  message[8] = 0xfe;
  message[9] = 0x80;
  return Ipv6(58, Joined({message, options}));
}

TEST(NeighbourMessageTest, NamesItsLinkLayerAddressOnce) {
  const Bytes one = {1, 1, 2, 0, 0, 0, 0, 1};
  const Bytes other = {1, 1, 2, 0, 0, 0, 0, 2};
  const auto read = [](const Bytes& frame) {
    return ReadNeighbourMessage(FindUpperLayer(frame).value()).value();
  };
  EXPECT_EQ(read(Solicitation(one)).link_layer, MacAddress({2, 0, 0, 0, 0, 1}));
  EXPECT_FALSE(read(Solicitation(one)).repeats_an_option);
  EXPECT_TRUE(read(Solicitation(Joined({one, other}))).repeats_an_option);
  EXPECT_EQ(read(Solicitation({})).link_layer, std::nullopt);
  EXPECT_FALSE(read(Ipv6(58, Bytes{135, 0, 0, 0, 0, 0, 0, 0})).target) << "cut short";
}

}  // namespace
}  // namespace kasane::sim
