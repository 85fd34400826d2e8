#include "model/files/resource_yaml.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/status.h"
#include "ctl/output/output.h"
#include "kasane/v1/controller.pb.h"
#include "model/files/resource_file.h"

namespace kasane::ctl {
namespace {

std::vector<v1::ResourceWithStatus> AsStored(const files::ResourceFile& file) {
  std::vector<v1::ResourceWithStatus> out;
  for (const v1::ApplyItem& item : file.items) *out.emplace_back().mutable_resource() = item.resource();
  return out;
}

std::string Print(const std::vector<v1::ResourceWithStatus>& resources, Format format) {
  std::vector<const v1::ResourceWithStatus*> pointers;
  for (const auto& resource : resources) pointers.push_back(&resource);
  return Render(files::ResourcesToJson(pointers), format);
}

std::map<model::ResourceKey, std::string> Resources(const files::ResourceFile& file) {
  std::map<model::ResourceKey, std::string> out;
  for (const v1::ApplyItem& item : file.items)
    out[model::DecodeKey(item.resource()).value()] = item.resource().DebugString();
  return out;
}

TEST(ResourceYamlTest, RecordedTopologiesSurviveARoundTrip) {
  for (const char* name : {"tests/data/neutron-two-tenants.json", "tests/data/neutron-shop-ads.json"}) {
    const auto file = files::ReadResourceFile(name);
    ASSERT_TRUE(file.ok()) << Message(file.status());
    for (const Format format : {Format::kYaml, Format::kJson}) {
      const std::string text = Print(AsStored(*file), format);
      const auto again = files::ParseResourceFile("printed", text);
      ASSERT_TRUE(again.ok()) << Message(again.status());
      for (const model::Fault& fault : again->faults) ADD_FAILURE() << ToString(fault);
      EXPECT_EQ(Resources(*again), Resources(*file)) << name;
    }
  }
}

TEST(ResourceYamlTest, HostileTextSurvivesARoundTrip) {
  const char* names[] = {"true", "null",     "~",    "12", "1e3", "- a",     "a: b",       "#x", "'",    "\"",
                         "\\",   "x\ny\tz ", "重ね", "&a", "*a",  "0x10",    "yes",        "x:", ":",    "[",
                         "{a}",  "!t",       "a #b", "%",  "|",   "1:20:30", "2026-11-30", "<<", " pad", "@"};
  files::ResourceFile file;
  for (const char* name : names) {
    v1::Network& network = *file.items.emplace_back().mutable_resource()->mutable_network();
    network.set_id(name);
    network.set_name(name);
    network.set_port_security_enabled(true);
  }
  for (const Format format : {Format::kYaml, Format::kJson}) {
    const auto again = files::ParseResourceFile("printed", Print(AsStored(file), format));
    ASSERT_TRUE(again.ok()) << Message(again.status());
    EXPECT_EQ(Resources(*again), Resources(file));
  }
}

TEST(ResourceYamlTest, APortWithItsStatus) {
  v1::ResourceWithStatus port;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(
      resource { revision { timeline: "t" counter: 7 }
        port { id: "p1" name: "web" network_id: "n1" admin_state_up: true mac_address: "fa:16:3e:00:00:01"
               fixed_ips { subnet_id: "s1" ip_address: "10.0.0.5" } binding_host_id: "hv1"
               port_security_enabled: false } }
      port_status: PORT_STATUS_ACTIVE
      rejections { host_id: "hv2" faults { path: "ports[0].id" message: "is odd" } }
      not_enforced { feature: "dhcp" detail: "It is not." })",
                                                            &port));
  const std::string text = Print({port}, Format::kYaml);
  EXPECT_EQ(text, R"(ports:
  - id: p1
    name: web
    network_id: n1
    admin_state_up: true
    mac_address: fa:16:3e:00:00:01
    fixed_ips:
      - subnet_id: s1
        ip_address: "10.0.0.5"
    binding:host_id: hv1
    port_security_enabled: false
    status: ACTIVE
    revision_number: 7
    kasane:
      rejected_by:
        - host_id: hv2
          faults:
            - path: "ports[0].id"
              message: "is odd"
      not_enforced:
        - feature: dhcp
          detail: "It is not."
)");
  const auto again = files::ParseResourceFile("printed", text);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->faults.empty());
  EXPECT_EQ(again->items.at(0).resource().port().DebugString(), port.resource().port().DebugString());
}

}  // namespace
}  // namespace kasane::ctl
