#include "ctl/trace/cloud_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status.h"
#include "ctl/trace/follow.h"
#include "ctl/trace/probe.h"
#include "inspect/replies.h"
#include "kasane/v1/agent.pb.h"
#include "kasane/v1/controller.pb.h"
#include "model/files/resource_file.h"
#include "vswitch/packet/packet_text.h"

namespace kasane::ctl {
namespace {

using ::testing::HasSubstr;

// tests/golden/bridged.yaml as the controller lists it: a1 (10.0.0.1) on hv1, a2 (10.0.0.2) on hv2, a3 down.
v1::ListResponse Listed(v1::PortStatus status) {
  v1::ListResponse reply;
  const auto file = files::ReadResourceFile("tests/golden/bridged.yaml");
  EXPECT_TRUE(file.ok()) << Message(file.status());
  for (const v1::ApplyItem& item : file->items) {
    v1::ResourceWithStatus& listed = *reply.add_resources();
    *listed.mutable_resource() = item.resource();
    if (item.resource().has_port()) {
      const v1::Port& port = item.resource().port();
      const bool up = !port.has_admin_state_up() || port.admin_state_up();
      listed.set_port_status(up ? status : v1::PORT_STATUS_DOWN);
    }
  }
  return reply;
}

// From port to port through all hosts: the delivery or drop, one a line.
std::string Trace(CloudRecords& records, const std::string& port, const std::string& packet) {
  const auto host = records.HostOf(port);
  if (!host.ok()) return Message(host.status());
  const inspect::AgentSnapshot& here = **records.Host(*host);
  const auto probe = PlanProbe(port, packet, inspect::PortsReply(here), inspect::RoutersReply(here),
                               [&](const v1::ResolveRequest& request) { return ResolvedReply(here, request); });
  if (!probe.ok()) return Message(probe.status());
  v1::TraceRequest request;
  request.set_port(probe->port_id);
  request.set_frame(probe->frame.data(), probe->frame.size());
  const auto first = TracedReply(here, request);
  if (!first.ok()) return Message(first.status());
  const auto reply = FollowTunnels(*first, [&](const std::string& next, const v1::TraceRequest& tunnelled) {
    return TracedReply(**records.Host(HostId(next)), tunnelled);
  });
  std::string text;
  for (const v1::TraceVerdict& verdict : reply.verdicts()) {
    text += fmt::format("{} {}\n", verdict.host(),
                        verdict.port_id().empty() ? verdict.drop_reason() : verdict.port_id());
  }
  return text;
}

TEST(CloudRecordsTest, FollowsAPacketToAnotherHost) {
  CloudRecords records(Listed(v1::PORT_STATUS_ACTIVE));
  EXPECT_EQ(Trace(records, "a1", "10.0.0.2"), "hv2 a2\n");
  EXPECT_EQ(Trace(records, "a2", "2001:db8::1"), "hv1 a1\n");
  EXPECT_EQ(Trace(records, "a1", "udp(dst=255.255.255.255)"), "hv2 a2\n");
  EXPECT_EQ(Trace(records, "a1", "icmp(dst=10.0.0.9, eth_dst=fa:16:3e:99:99:99)"), "hv1 unknown_mac\n");
}

TEST(CloudRecordsTest, APortThatIsNotActiveReceivesNothing) {
  CloudRecords records(Listed(v1::PORT_STATUS_BUILD));
  EXPECT_THAT(Trace(records, "a1", "10.0.0.2"), HasSubstr("port a1 is not plugged"));
  EXPECT_EQ(Trace(records, "a3", "udp(dst=10.0.0.1, eth_dst=fa:16:3e:00:00:01)"), "hv1 admin_down\n");
}

TEST(CloudRecordsTest, WhatIsNotRecorded) {
  CloudRecords records(Listed(v1::PORT_STATUS_ACTIVE));
  EXPECT_THAT(Message(records.Host(HostId("hv9")).status()), HasSubstr("the controller knows no host hv9"));
  EXPECT_THAT(Message(records.HostOf("nobody").status()), HasSubstr("no port has the id or name \"nobody\""));
}

}  // namespace
}  // namespace kasane::ctl
