#include "ctl/output/apply_report.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "kasane/v1/controller.pb.h"

namespace kasane::ctl {
namespace {

constexpr char kReply[] = R"(
  changes { key { kind: RESOURCE_KIND_NETWORK id: "n1" } change: CHANGE_CREATED }
  changes { key { kind: RESOURCE_KIND_PORT id: "p1" } change: CHANGE_CREATED }
  changes { key { kind: RESOURCE_KIND_PORT id: "p2" } change: CHANGE_UNCHANGED }
  warnings { path: "t.yaml: ports[0].binding:host_id" message: "host hv9 has not been seen yet" }
  not_enforced { key { kind: RESOURCE_KIND_SUBNET id: "s1" } name: "a" feature: "dhcp" detail: "No DHCP on 10.0.0.0/24." }
  not_enforced { key { kind: RESOURCE_KIND_SUBNET id: "s2" } name: "b" feature: "dhcp" detail: "No DHCP on 10.0.1.0/24." }
  not_enforced { key { kind: RESOURCE_KIND_PORT id: "p1" } name: "web" feature: "port_security" detail: "Not checked." })";

v1::ApplyResponse Reply() {
  v1::ApplyResponse reply;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kReply, &reply));
  return reply;
}

std::vector<files::ResourceFile> Files() {
  std::vector<files::ResourceFile> files(1);
  files[0].name = "t.yaml";
  files[0].unused = {
      {"ports[*].binding:profile", 2, false}, {"ports[*].created_at", 2, true}, {"networks[*].tags", 1, true}};
  return files;
}

TEST(ApplyReportTest, Condensed) {
  EXPECT_EQ(ApplyReport(Reply(), Files(), false, false), R"(KIND      CREATED  UNCHANGED
networks        1          0
ports           1          1
warning: t.yaml: ports[0].binding:host_id: host hv9 has not been seen yet

Asked for, and not enforced by this version (-v lists each):
FEATURE        RESOURCES  WHAT IT MEANS
dhcp           2 subnets  For example: No DHCP on 10.0.0.0/24.
port_security  1 ports    Not checked.
)");
}

TEST(ApplyReportTest, VerboseDryRun) {
  EXPECT_EQ(ApplyReport(Reply(), Files(), true, true), R"(Dry run: nothing was stored. It would be:
KIND      CREATED  UNCHANGED
networks        1          0
ports           1          1
warning: t.yaml: ports[0].binding:host_id: host hv9 has not been seen yet

Asked for, and not enforced by this version:
KIND     ID  NAME  FEATURE        WHAT IT MEANS
subnets  s1  a     dhcp           No DHCP on 10.0.0.0/24.
subnets  s2  b     dhcp           No DHCP on 10.0.1.0/24.
ports    p1  web   port_security  Not checked.

Neutron's fields that have a value and no use here:
FIELD                     RESOURCES
ports[*].binding:profile          2

Passed over, as they say nothing about forwarding: created_at, tags
)");
}

TEST(ApplyReportTest, NothingToRemark) {
  v1::ApplyResponse reply;
  auto* change = reply.add_changes();
  change->mutable_key()->set_kind(v1::RESOURCE_KIND_FLOATING_IP);
  change->set_change(v1::CHANGE_UPDATED);
  EXPECT_EQ(ApplyReport(reply, {}, false, false), "KIND         UPDATED\nfloatingips        1\n");
}

}  // namespace
}  // namespace kasane::ctl
