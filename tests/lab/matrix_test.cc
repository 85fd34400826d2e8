#include "tests/lab/matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/status.h"

namespace kasane::lab {
namespace {

using ::testing::HasSubstr;

// Tenants a and b with the same two IPv4 addresses; a's VMs have IPv6 too.
LabPlan TwoTenants() {
  LabPlan plan;
  plan.hosts.push_back({"hv1", {}, {}, {}});
  const auto add = [&plan](const char* node, std::vector<const char*> addresses) {
    Vm vm;
    vm.node = node;
    for (const char* address : addresses) vm.addresses.push_back(IpPrefix::Host(*IpAddress::Parse(address)));
    plan.vms.push_back(vm);
  };
  add("a1", {"10.0.0.1", "2001:db8::1"});
  add("a2", {"10.0.0.2", "2001:db8::2"});
  add("b1", {"10.0.0.1"});
  add("b2", {"10.0.0.2"});
  return plan;
}

Expectation Tenants() {
  return {{{"a", {IpFamily::kV4, IpFamily::kV6}, {"a1", "a2"}}, {"b", {IpFamily::kV4}, {"b1", "b2"}}}, {}};
}

// A network that does as expected, but for what `faults` says of (sender, address).
std::vector<Verdict> Verdicts(const std::map<std::pair<std::string, std::string>, ProbeResult>& faults,
                              const Expectation& expectation = Tenants()) {
  const LabPlan plan = TwoTenants();
  const auto probes = ProbesFor(plan, expectation);
  if (!probes.ok()) {
    ADD_FAILURE() << probes.status();
    return {};
  }
  std::vector<ProbeResult> results;
  for (const Probe& probe : *probes) {
    const std::string& from = plan.vms[probe.vm].node;
    ProbeResult result;
    result.proved = true;
    for (const Vm& vm : plan.vms) {
      const bool same_tenant = vm.node[0] == from[0];
      for (const IpPrefix& own : vm.addresses) {
        if (same_tenant && own.address() == probe.to) result.answered_by.insert(vm.node);
      }
    }
    const auto fault = faults.find({from, probe.to.ToString()});
    results.push_back(fault == faults.end() ? result : fault->second);
  }
  return Judge(plan, expectation, *probes, results);
}

std::vector<std::string> Unexpected(const std::vector<Verdict>& verdicts) {
  std::vector<std::string> lines;
  for (const Verdict& verdict : verdicts) {
    if (!verdict.AsExpected()) lines.push_back(verdict.ToString());
  }
  return lines;
}

TEST(ProbesForTest, ASharedAddressIsProbedOnceAndTheFenceIsWhatShouldAnswer) {
  const auto probes = ProbesFor(TwoTenants(), Tenants());
  ASSERT_TRUE(probes.ok());
  std::vector<std::string> from_a1;
  for (const Probe& probe : *probes) {
    if (probe.vm == 0) from_a1.push_back(fmt::format("{}{}", probe.to, probe.fence ? " fence" : ""));
  }
  // Its own address is b1's too: it answers itself, which is no fence.
  EXPECT_THAT(from_a1, ::testing::ElementsAre("10.0.0.1", "10.0.0.2 fence", "2001:db8::2 fence"));
}

TEST(ProbesForTest, RefusesTwoVmsInReachWithOneAddress) {
  Expectation mixed = Tenants();
  mixed.groups.push_back({"mixed", {IpFamily::kV4}, {"a1", "a2", "b2"}});
  EXPECT_THAT(Message(ProbesFor(TwoTenants(), mixed).status()),
              HasSubstr("lets a1 reach both a2 and b2 at 10.0.0.2"));
}

TEST(JudgeTest, ASharedAddressIsNoLeak) {
  const auto verdicts = Verdicts({});
  EXPECT_THAT(Unexpected(verdicts), ::testing::IsEmpty());
  EXPECT_TRUE(AllAsExpected(verdicts));
  EXPECT_EQ(verdicts.size(), 18);
}

TEST(JudgeTest, AnotherTenantsAnswerIsALeak) {
  const auto verdicts = Verdicts({{{"a1", "10.0.0.2"}, {{"b2"}, true}}});
  EXPECT_THAT(Unexpected(verdicts),
              ::testing::ElementsAre("a1 -> a2 (10.0.0.2): expected an answer from a2, saw none",
                                     "a1 -> b2 (10.0.0.2): expected no answer, saw an answer from b2"));
}

TEST(JudgeTest, AVmWithoutTheAddressMustNotAnswerForIt) {
  const auto verdicts = Verdicts({{{"b1", "2001:db8::1"}, {{"b2"}, true}}});
  EXPECT_THAT(Unexpected(verdicts),
              ::testing::ElementsAre("b1 -> a1 (2001:db8::1): expected no answer, saw an answer from b2"));
}

TEST(JudgeTest, SilenceWithoutAFenceProvesNothing) {
  const auto verdicts = Verdicts({{{"b1", "2001:db8::1"}, {{}, false}}});
  EXPECT_THAT(
      Unexpected(verdicts),
      ::testing::ElementsAre(
          "b1 -> a1 (2001:db8::1): expected no answer, saw none, but no other answer to rely on either"));
}

TEST(JudgeTest, WhatCouldNotBeSentIsNoSilence) {
  const absl::Status fault = absl::InternalError("a probe to 2001:db8::1 could not be sent: No buffer");
  const auto verdicts = Verdicts({{{"b1", "2001:db8::1"}, {{}, true, fault}}});
  EXPECT_THAT(Unexpected(verdicts),
              ::testing::ElementsAre("b1 -> a1 (2001:db8::1): expected no answer, saw none, but a probe to "
                                     "2001:db8::1 could not be sent: No buffer"));
}

TEST(JudgeTest, ExtraProbesSayWhoAnswers) {
  Expectation expectation = Tenants();
  expectation.probes.push_back({{"a1", "b1"}, *IpAddress::Parse("192.0.2.1"), "a2"});
  const auto verdicts = Verdicts({{{"a1", "192.0.2.1"}, {{"a2"}, true}}}, expectation);
  EXPECT_THAT(Unexpected(verdicts),
              ::testing::ElementsAre("b1 -> 192.0.2.1: expected an answer from a2, saw none"));
}

TEST(MatrixTextTest, ShowsFamiliesAndMarksWhatIsUnexpected) {
  const std::string text = MatrixText(TwoTenants(), Verdicts({{{"a1", "2001:db8::2"}, {{}, true}}}));
  EXPECT_EQ(text,
            "           1   2   3   4\n"
            "  1 a1 hv1 -   4!  .   .\n"
            "  2 a2 hv1 46  -   .   .\n"
            "  3 b1 hv1 .   .   -   4\n"
            "  4 b2 hv1 .   .   4   -\n"
            "46: reached by IPv4 and IPv6; 4, 6: by one of them; .: not reached; !: not as expected\n"
            "a1 -> a2 (2001:db8::2): expected an answer from a2, saw none\n"
            "17 of 18 verdicts as expected\n");
}

TEST(MatrixJsonTest, HasTheCountsAndWhatIsUnexpected) {
  const auto json =
      nlohmann::json::parse(MatrixJson(TwoTenants(), Verdicts({{{"a1", "10.0.0.2"}, {{"b2"}, true}}})));
  EXPECT_EQ(json["verdicts"], 18);
  EXPECT_EQ(json["as_expected"], 16);
  EXPECT_EQ(json["matrix"]["a1"]["a2"], nlohmann::json::array({"v6"}));
  EXPECT_EQ(json["unexpected"][0]["to"], "a2");
  EXPECT_EQ(json["unexpected"][0]["saw"], nlohmann::json::array());
  EXPECT_EQ(json["unexpected"][1]["saw"], nlohmann::json::array({"b2"}));
}

}  // namespace
}  // namespace kasane::lab
