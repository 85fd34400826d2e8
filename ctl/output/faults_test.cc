#include "ctl/output/faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kasane::ctl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Merged(const std::vector<model::Fault>& form,
                                const std::vector<model::Fault>& controller) {
  std::vector<std::string> out;
  for (const model::Fault& fault : MergeFaults(form, controller)) out.push_back(ToString(fault));
  return out;
}

TEST(MergeFaultsTest, BothJudgesInTheFilesOrder) {
  EXPECT_THAT(
      Merged({{"a: ports[10].nam", "is no known field"}},
             {{"a: ports[9].mac_address", "bad"}, {"a: networks[0]", "x"}}),
      ElementsAre("a: networks[0]: x", "a: ports[9].mac_address: bad", "a: ports[10].nam: is no known field"));
}

TEST(MergeFaultsTest, WhatFollowsFromAFaultOfFormIsLeftOut) {
  EXPECT_THAT(Merged({{"a: ports[3].mtu", "expected a number"}}, {{"a: ports[3].mtu", "is missing"}}),
              ElementsAre("a: ports[3].mtu: expected a number"));
  EXPECT_THAT(
      Merged({{"a: ports[3].fixed_ips[0]", "expected a mapping"}},
             {{"a: ports[3].fixed_ips[0].ip_address", "is missing"},
              {"a: ports[3].fixed_ips[1].ip_address", "bad"}}),
      ElementsAre("a: ports[3].fixed_ips[0]: expected a mapping", "a: ports[3].fixed_ips[1].ip_address: bad"));
}

TEST(MergeFaultsTest, ADuplicateIdIsToldOnce) {
  EXPECT_THAT(Merged({{"a: ports[3].id", "is also the id of"}},
                     {{"a: ports[3]", "is already given"}, {"a: ports[3].mac_address", "bad"}}),
              ElementsAre("a: ports[3].id: is also the id of", "a: ports[3].mac_address: bad"));
}

TEST(MergeFaultsTest, AFaultOfASectionHidesNothing) {
  EXPECT_THAT(Merged({{"a: ports", "is there twice"}}, {{"a: ports[3].mac_address", "bad"}}),
              ElementsAre("a: ports: is there twice", "a: ports[3].mac_address: bad"));
}

TEST(MergeFaultsTest, AnotherFieldsFaultOrAnotherFilesHidesNothing) {
  EXPECT_THAT(
      Merged({{"a: ports[3].mac", "no field"}}, {{"a: ports[3].mac_address", "bad"}, {"b: ports[3].mac", "x"}}),
      ElementsAre("a: ports[3].mac: no field", "a: ports[3].mac_address: bad", "b: ports[3].mac: x"));
}

TEST(MergeFaultsTest, IdenticalFaultsOnce) {
  EXPECT_THAT(Merged({}, {{"p", "x"}, {"p", "x"}, {"p", "y"}}), ElementsAre("p: x", "p: y"));
  EXPECT_THAT(Merged({}, {}), IsEmpty());
}

TEST(NaturalLessTest, NumbersByValue) {
  EXPECT_TRUE(NaturalLess("a[9]", "a[10]"));
  EXPECT_FALSE(NaturalLess("a[10]", "a[9]"));
  EXPECT_TRUE(NaturalLess("a[2].b", "a[10].a"));
  EXPECT_TRUE(NaturalLess("a", "a[0]"));
  EXPECT_FALSE(NaturalLess("a1", "a01"));
  EXPECT_FALSE(NaturalLess("a", "a"));
}

}  // namespace
}  // namespace kasane::ctl
