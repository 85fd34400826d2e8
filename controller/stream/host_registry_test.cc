#include "controller/stream/host_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/test_support.h"

namespace kasane::controller {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class HostRegistryTest : public testing::Test {
 protected:
  HostRegistryTest() {
    store_ = *Store::Open(directory_.File("controller.db"));
    hub_ = *StateHub::Load(*store_, 0, {});
    hub_->AddObserver(&registry_);
    Apply(kSmallTopology);
  }

  void Apply(const std::string& yaml) {
    const absl::Status status = ApplyTo(*hub_, RequestFrom(yaml)).status();
    ASSERT_TRUE(status.ok()) << Message(status);
  }

  // vm1, with a name that makes each version another, bound to `host`.
  void ApplyPort(const std::string& name, const std::string& host) {
    Apply("ports: [{id: p1, name: " + name +
          ", network_id: n1, mac_address: \"fa:16:3e:00:00:01\", device_owner: \"compute:nova\", fixed_ips: "
          "[{subnet_id: s1, ip_address: 10.0.1.5}], binding:host_id: \"" +
          host + "\"}]");
  }

  std::shared_ptr<HostSession> Connect(const std::string& host, const std::string& instance = "run-1") {
    auto session = registry_.Connect({HostId(host), instance, "peer of " + instance, "1", "",
                                      [this, instance] { cancelled_.push_back(instance); }});
    EXPECT_TRUE(session.ok()) << Message(session.status());
    return session.ok() ? *session : nullptr;
  }

  uint64_t Counter() const { return hub_->snapshot()->revision.counter; }
  model::Revision At(uint64_t counter) const { return {store_->timelines().back(), counter}; }
  PortStatus StatusOf(const std::string& port) const {
    return registry_.StatusOf(*hub_->snapshot()->state.ports.at(PortId(port)));
  }
  std::vector<PortId> Report(const HostSession& session, uint64_t counter, std::vector<PortId> active,
                             std::vector<PortId> down = {}) {
    return registry_.ReportApplied(session, *hub_->snapshot(),
                                   {At(counter), std::move(active), std::move(down)});
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<StateHub> hub_;
  HostRegistry registry_{{}};
  std::vector<std::string> cancelled_;
};

TEST_F(HostRegistryTest, ABoundPortIsBuiltUntilItsHostHasAppliedIt) {
  EXPECT_EQ(StatusOf("p1"), PortStatus::kBuild);
  const auto hv1 = Connect("hv1");
  EXPECT_THAT(Report(*hv1, Counter(), {PortId("p1")}, {PortId("p2")}), ElementsAre(PortId("p1"), PortId("p2")));
  EXPECT_EQ(StatusOf("p1"), PortStatus::kActive);
  EXPECT_EQ(StatusOf("p2"), PortStatus::kDown);
  EXPECT_THAT(Report(*hv1, Counter(), {PortId("p1")}, {PortId("p2")}), IsEmpty());
}

TEST_F(HostRegistryTest, APortThatNoHostPlugsWaitsForNone) {
  const auto status_of = [&](const std::string& owner, const std::string& host, bool up = true) {
    model::Port port;
    port.id = PortId("p");
    port.device_owner = owner;
    port.role = model::RoleOf(owner);
    port.host = HostId(host);
    port.admin_state_up = up;
    return registry_.StatusOf(port);
  };
  for (const char* owner : {"network:router_interface", "network:router_interface_distributed",
                            "network:ha_router_replicated_interface"}) {
    EXPECT_EQ(status_of(owner, ""), PortStatus::kActive) << owner;
    EXPECT_EQ(status_of(owner, "hv1"), PortStatus::kActive) << owner;
    EXPECT_EQ(status_of(owner, "", false), PortStatus::kDown) << owner;
  }
  for (const char* owner :
       {"network:dhcp", "network:floatingip", "network:router_gateway", "network:router_centralized_snat",
        "network:router_ha_interface", "network:floatingip_agent_gateway", "trunk:subport", "baremetal:none"}) {
    EXPECT_EQ(status_of(owner, ""), PortStatus::kNotApplicable) << owner;
    EXPECT_EQ(status_of(owner, "hv1"), PortStatus::kNotApplicable) << owner;
  }
  for (const char* owner : {"compute:nova", ""}) {
    EXPECT_EQ(status_of(owner, ""), PortStatus::kDown) << owner;
    EXPECT_EQ(status_of(owner, "hv1"), PortStatus::kBuild) << owner;
  }
}

TEST_F(HostRegistryTest, AnActivePortMustBeCoveredByWhatIsApplied) {
  const auto hv1 = Connect("hv1");
  ApplyPort("new", "hv1");
  EXPECT_THAT(Report(*hv1, Counter() - 1, {PortId("p1")}), IsEmpty());
  EXPECT_EQ(StatusOf("p1"), PortStatus::kBuild);
  // It need not be named again.
  EXPECT_THAT(Report(*hv1, Counter(), {}), ElementsAre(PortId("p1")));
  EXPECT_EQ(StatusOf("p1"), PortStatus::kActive);
}

TEST_F(HostRegistryTest, AnActivePortStaysActiveWhenItChanges) {
  const auto hv1 = Connect("hv1");
  Report(*hv1, Counter(), {PortId("p1")});
  ApplyPort("changed", "hv1");
  EXPECT_EQ(StatusOf("p1"), PortStatus::kActive);
}

TEST_F(HostRegistryTest, ARebindingIsBuiltAnew) {
  const auto hv1 = Connect("hv1");
  Report(*hv1, Counter(), {PortId("p1")});
  ApplyPort("vm1", "hv2");
  EXPECT_EQ(StatusOf("p1"), PortStatus::kBuild);
  // The former host's word counts no more.
  EXPECT_THAT(Report(*hv1, Counter(), {PortId("p1")}), IsEmpty());
  EXPECT_EQ(StatusOf("p1"), PortStatus::kBuild);
  ApplyPort("vm1", "hv1");
  EXPECT_EQ(StatusOf("p1"), PortStatus::kBuild);
  ApplyPort("vm1", "");
  EXPECT_EQ(StatusOf("p1"), PortStatus::kDown);
}

TEST_F(HostRegistryTest, PortsKeepTheirStatusWhenTheHostIsGone) {
  const auto hv1 = Connect("hv1");
  Report(*hv1, Counter(), {PortId("p1")});
  registry_.Disconnect(hv1);
  EXPECT_EQ(StatusOf("p1"), PortStatus::kActive);
  EXPECT_THAT(Report(*hv1, Counter(), {}, {PortId("p1")}), IsEmpty());  // A session that ended says nothing.
}

TEST_F(HostRegistryTest, RefusesASecondInstanceAndReplacesTheSame) {
  const auto first = Connect("hv1", "run-1");
  const auto twin = registry_.Connect({HostId("hv1"), "run-2", "elsewhere", "1", "", [] {}});
  EXPECT_EQ(twin.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(Message(twin.status()),
              AllOf(HasSubstr("a second agent for host hv1: one is connected from peer of run-1 since 20"),
                    HasSubstr("stop that one")));
  EXPECT_THAT(cancelled_, IsEmpty());
  const auto again = Connect("hv1", "run-1");
  EXPECT_THAT(cancelled_, ElementsAre("run-1"));
  registry_.Disconnect(first);  // Late, and for nothing.
  EXPECT_TRUE(registry_.IsConnected(HostId("hv1")));
  registry_.Disconnect(again);
  EXPECT_FALSE(registry_.IsConnected(HostId("hv1")));
  Connect("hv1", "run-2");
}

TEST_F(HostRegistryTest, ARefusalIsOfOneVersion) {
  const auto hv1 = Connect("hv1");
  const model::ResourceKey p1{model::Kind::kPort, "p1"};
  registry_.ReportVerdicts(*hv1,
                           {{p1, At(1), {{"mac_address", "odd"}}}, {{model::Kind::kPort, "p2"}, At(1), {}}});
  ASSERT_EQ(registry_.RefusalsOf(p1, At(1)).size(), 1U);
  EXPECT_THAT(registry_.RefusalsOf(p1, At(1))[0].faults, ElementsAre(model::Fault{"mac_address", "odd"}));
  EXPECT_THAT(registry_.RefusalsOf(p1, At(2)), IsEmpty());
  EXPECT_EQ(registry_.Summaries().at(HostId("hv1")).rejected, 1U);
  ApplyPort("fixed", "hv1");
  EXPECT_EQ(registry_.Summaries().at(HostId("hv1")).rejected, 0U);
}

TEST_F(HostRegistryTest, GivesEachChangeOfAPortOnceToBeWritten) {
  const auto hv1 = Connect("hv1");
  Report(*hv1, Counter(), {PortId("p1")}, {PortId("p2")});
  std::stop_source stopped;
  stopped.request_stop();
  const auto take = [&] { return registry_.TakeFacts(std::chrono::milliseconds(0), stopped.get_token()); };
  EXPECT_THAT(take(), testing::UnorderedElementsAre(PortFact{PortId("p1"), HostId("hv1"), true},
                                                    PortFact{PortId("p2"), HostId("hv1"), false}));
  EXPECT_THAT(take(), IsEmpty());
  ApplyPort("vm1", "hv2");  // What was written about it is to be forgotten.
  EXPECT_THAT(take(), ElementsAre(PortFact{PortId("p1"), HostId(), false}));
}

TEST_F(HostRegistryTest, KnowsTheFactsOfEarlierRuns) {
  const HostRegistry registry({{PortId("p1"), HostId("hv1"), true}, {PortId("p2"), HostId("hv9"), true}});
  const auto& ports = hub_->snapshot()->state.ports;
  EXPECT_EQ(registry.StatusOf(*ports.at(PortId("p1"))), PortStatus::kActive);
  EXPECT_EQ(registry.StatusOf(*ports.at(PortId("p2"))), PortStatus::kBuild);  // Was bound to another host.
}

}  // namespace
}  // namespace kasane::controller
