#include "ctl/import/import_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/status.h"
#include "ctl/import/import.h"
#include "kasane/v1/controller.pb.h"

namespace kasane::ctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ImportPlan PlanOf(const std::string& text) {
  auto file = files::ParseResourceFile("d", text, files::Unknown::kNote);
  EXPECT_TRUE(file.ok()) << Message(file.status());
  std::vector<files::ResourceFile> files;
  files.push_back(*std::move(file));
  return ImportPlan(std::move(files));
}

// "ports[0]: why" of each that is left out.
std::vector<std::string> LeftOut(const ImportPlan& plan) {
  std::vector<std::string> out;
  for (const ImportItem* item : plan.Items()) {
    if (item->left_out) out.push_back(item->path + ": " + *item->left_out);
  }
  return out;
}

std::vector<std::string> FeaturesOf(const ImportPlan& plan) {
  std::vector<std::string> out;
  for (const ImportItem* item : plan.Items()) {
    for (const Shortfall& shortfall : item->shortfalls) out.push_back(item->path + ": " + shortfall.feature);
  }
  return out;
}

constexpr char kCloud[] = R"(
networks: [{id: n1, provider:segmentation_id: 5}]
subnets: [{id: s1, network_id: n1, ip_version: 4, cidr: 10.0.0.0/24, enable_dhcp: false}]
routers:
- id: r1
  routes:
  - {destination: 192.0.2.0/24, nexthop: 10.0.0.9}
  - {destination: 198.51.100.0/24, nexthop: 10.9.9.9}
  - {destination: 203.0.113.0/24, nexthop: 10.0.0.8}
ports:
- id: p1
  network_id: n1
  mac_address: fa:16:3e:00:00:01
  fixed_ips: [{subnet_id: s1, ip_address: 10.0.0.5}]
)";

TEST(ImportPlanTest, TakesOutWhatTheControllerRefuses) {
  ImportPlan plan = PlanOf(kCloud);
  int calls = 0;
  const auto reply =
      Import(plan, false, [&](const v1::ApplyRequest& request) -> absl::StatusOr<v1::ApplyResponse> {
        v1::ApplyResponse out;
        if (++calls > 1) {
          EXPECT_THAT(request.items(), SizeIs(4));
          EXPECT_THAT(request.items(2).resource().router().routes(), SizeIs(2));
          EXPECT_EQ(request.items(2).resource().router().routes(1).nexthop(), "10.0.0.8");
          return out;
        }
        auto& fault = *out.add_faults();
        fault.set_path("d: routers[0].routes[1].nexthop");
        fault.set_message("10.9.9.9 is on no subnet");
        return out;
      });
  EXPECT_TRUE(reply.ok());
  EXPECT_EQ(calls, 2);
  EXPECT_THAT(FeaturesOf(plan), ElementsAre("d: routers[0]: extra_route"));
  EXPECT_THAT(LeftOut(plan), IsEmpty());
}

TEST(ImportPlanTest, FaultsOfNothingInTheDumpEndIt) {
  ImportPlan plan = PlanOf(kCloud);
  const auto reply = Import(plan, false, [](const v1::ApplyRequest&) -> absl::StatusOr<v1::ApplyResponse> {
    v1::ApplyResponse out;
    out.add_faults()->set_path("elsewhere[3]");
    return out;
  });
  EXPECT_FALSE(reply.ok());
}

TEST(ImportPlanTest, DependentsGoAtOnceAndAreNamed) {
  ImportPlan plan = PlanOf(kCloud);
  EXPECT_TRUE(plan.TakeFaults({{"d: networks[0].provider:segmentation_id", "VNI 5 belongs to another"}}));
  EXPECT_THAT(LeftOut(plan), ElementsAre("d: networks[0]: provider:segmentation_id: VNI 5 belongs to another",
                                         "d: subnets[0]: network_id: network n1 is left out as well",
                                         HasSubstr("d: ports[0]: network_id: network n1 is left out as well")));
  EXPECT_THAT(plan.Request(false).items(), SizeIs(1));  // The router.
}

TEST(ImportPlanTest, ARuleNeverComesToAllowMore) {
  ImportPlan plan = PlanOf(R"(
security_groups:
- id: g1
  security_group_rules:
  - {id: a, direction: ingress, ethertype: IPv4, remote_address_group_id: ag}
  - {id: b, direction: ingress, ethertype: IPv4, remote_new_thing: x}
  - {id: c, direction: ingress, ethertype: IPv4, remote_new_thing: null}
  - {id: d, direction: sideways, ethertype: IPv4}
  - {id: e, direction: ingress, ethertype: IPv4, remote_ip_prefix: 10.0.0.0/33}
  - {id: f, direction: ingress, ethertype: IPv4, remote_group_id: [g1]}
)");
  const v1::ApplyRequest request = plan.Request(false);
  ASSERT_THAT(request.items(), SizeIs(1));
  const auto& rules = request.items(0).resource().security_group().security_group_rules();
  ASSERT_THAT(rules, SizeIs(2));
  EXPECT_EQ(rules[0].remote_address_group_id(), "ag");
  EXPECT_EQ(rules[1].id(), "c");
}

TEST(ImportPlanTest, PagesThatOverlapAndOtherSections) {
  ImportPlan plan = PlanOf(R"(
networks: [{id: n1, provider:segmentation_id: 5}, {id: n1, provider:segmentation_id: 5}, {name: x}, 7]
networks_links: [{rel: next, href: "http://x"}]
trunks: [{id: t1, name: t}]
ports: none
)");
  EXPECT_THAT(
      LeftOut(plan),
      ElementsAre("d: networks[1]: its id is also that of d: networks[0], which is taken",
                  "d: networks[2]: it has no id", HasSubstr("d: trunks[0]: Trunks are not"),
                  HasSubstr("d: networks[3]: expected a mapping"), HasSubstr("d: ports: expected a list")));
  EXPECT_THAT(plan.Request(false).items(), SizeIs(1));
}

}  // namespace
}  // namespace kasane::ctl
