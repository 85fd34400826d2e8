// Agents of this release and of the one before on one controller: the agent's loop and stream and the
// controller's server are real, the datapath is not.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "agent/reconcile/event_queue.h"
#include "agent/reconcile/fake_datapath.h"
#include "agent/reconcile/reconciler.h"
#include "agent/sync/sync_client.h"
#include "controller/server.h"
#include "controller/stream/host_sync.h"
#include "controller/test_support.h"
#include "kasane/v1/controller.grpc.pb.h"
#include "model/protocol.h"

namespace kasane {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kPatience = std::chrono::seconds(60);
constexpr model::ProtocolRange kPrevious{1, 1};
constexpr model::ProtocolRange kPresent = model::kSpokenProtocols;
constexpr model::ProtocolRange kLater{3, 4};

// kasaned without its switch: the ports of the host are all plugged, every tunnel is ready.
class RunningAgent {
 public:
  RunningAgent(const rpc::ListenAddress& controller, const std::string& host, const std::string& tunnel,
               model::ProtocolRange protocols)
      : client_(OptionsOf(controller, host, tunnel, protocols),
                [this](agent::SyncEvent event) {
                  std::visit([this](auto& kind) { queue_.Push(std::move(kind)); }, event);
                }),
        reconciler_({HostId(host), {*IpAddress::Parse(tunnel), {}}, controller.ToString()}, datapath_,
                    datapath_, client_) {
    datapath_.Change([](vswitch::DatapathFacts& facts) { facts.ready = true; });
    loop_ = std::thread([this] { Run(); });
  }
  ~RunningAgent() {
    queue_.Close();
    loop_.join();
  }

  // Waits until what the agent shows is as wanted; returns the last that it showed.
  std::shared_ptr<const inspect::AgentSnapshot> Until(
      const std::function<bool(const inspect::AgentSnapshot&)>& wanted) {
    std::unique_lock lock(mutex_);
    std::shared_ptr<const inspect::AgentSnapshot> shown;
    const bool reached = stepped_.wait_for(lock, kPatience, [&] {
      shown = reconciler_.Snapshot();
      return wanted(*shown);
    });
    EXPECT_TRUE(reached) << "the agent did not come so far";
    return shown;
  }
  std::shared_ptr<const inspect::AgentSnapshot> UntilApplied(uint64_t counter) {
    return Until([counter](const inspect::AgentSnapshot& shown) {
      return shown.synced && shown.applied && shown.applied->counter >= counter;
    });
  }

 private:
  static agent::SyncOptions OptionsOf(const rpc::ListenAddress& controller, const std::string& host,
                                      const std::string& tunnel, model::ProtocolRange protocols) {
    agent::SyncOptions options;
    options.target = "ipv4:" + controller.ToString();
    options.address = controller.ToString();
    options.host_id = host;
    options.tunnel_addresses = {tunnel};
    options.backoff = {std::chrono::milliseconds(1), std::chrono::milliseconds(50)};
    options.protocols = protocols;
    return options;
  }

  void Run() {
    std::optional<agent::EventQueue::Clock::time_point> until;
    while (const std::optional<std::vector<agent::Event>> events = queue_.TakeAll(until)) {
      const std::lock_guard lock(mutex_);
      until = reconciler_.Step(*events, agent::EventQueue::Clock::now());
      stepped_.notify_all();
    }
  }

  agent::EventQueue queue_;
  agent::FakeDatapath datapath_{[this] { queue_.Push(agent::DatapathChanged{}); }};
  agent::SyncClient client_;
  std::mutex mutex_;
  std::condition_variable stepped_;
  agent::Reconciler reconciler_;  // Guarded by mutex_.
  std::thread loop_;
};

template <typename Map>
void ExpectSame(const Map& a, const Map& b) {
  ASSERT_EQ(a.size(), b.size());
  for (auto left = a.begin(), right = b.begin(); left != a.end(); ++left, ++right) {
    EXPECT_EQ(left->first, right->first);
    EXPECT_EQ(*left->second, *right->second) << left->first.str();
  }
}

void ExpectSameState(const model::NetworkState& a, const model::NetworkState& b) {
  ExpectSame(a.hosts, b.hosts);
  ExpectSame(a.networks, b.networks);
  ExpectSame(a.subnets, b.subnets);
  ExpectSame(a.ports, b.ports);
  ExpectSame(a.routers, b.routers);
}

// One network with a VM on each of three hosts.
constexpr const char* kCloud = R"(
networks: [{id: n1, name: front, provider:segmentation_id: 101}]
subnets: [{id: s1, network_id: n1, ip_version: 4, cidr: 10.0.0.0/8, gateway_ip: 10.0.0.1}]
ports:
- {id: p1, network_id: n1, mac_address: "fa:16:3e:ff:00:01", device_owner: "compute:nova", binding:host_id: hv1}
- {id: p2, network_id: n1, mac_address: "fa:16:3e:ff:00:02", device_owner: "compute:nova", binding:host_id: hv2}
- {id: p3, network_id: n1, mac_address: "fa:16:3e:ff:00:03", device_owner: "compute:nova", binding:host_id: hv3}
)";

// More than one batch of the stream holds.
v1::ApplyRequest ManyPorts(int count) {
  v1::ApplyRequest request;
  for (int i = 0; i < count; ++i) {
    v1::Port& port = *request.add_items()->mutable_resource()->mutable_port();
    port.set_id(fmt::format("many-{:05}", i));
    port.set_name(std::string(200, 'x'));
    port.set_network_id("n1");
    port.set_binding_host_id("hv2");
    port.set_device_owner("compute:nova");
    port.set_mac_address(fmt::format("fa:16:3e:00:{:02x}:{:02x}", i / 256, i % 256));
  }
  return request;
}

class TwoVersionsTest : public ::testing::Test {
 protected:
  TwoVersionsTest() {
    auto server = controller::ControllerServer::Start({*IpAddress::Parse("127.0.0.1"), 0},
                                                      directory_.File("controller.db"));
    EXPECT_TRUE(server.ok()) << Message(server.status());
    server_ = *std::move(server);
    api_ = v1::ControllerService::NewStub(
        grpc::CreateChannel(address().ToString(), grpc::InsecureChannelCredentials()));
  }

  const rpc::ListenAddress& address() const { return server_->address(); }

  // Returns the transaction's counter.
  uint64_t Apply(const v1::ApplyRequest& request) {
    grpc::ClientContext call;
    v1::ApplyResponse response;
    const grpc::Status status = api_->Apply(&call, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.revision().counter();
  }
  uint64_t Delete(const model::ResourceKey& key) {
    grpc::ClientContext call;
    v1::DeleteRequest request;
    v1::DeleteResponse response;
    *request.add_items()->mutable_key() = model::EncodeKey(key);
    const grpc::Status status = api_->Delete(&call, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.revision().counter();
  }
  std::map<std::string, uint32_t> Protocols() {
    grpc::ClientContext call;
    v1::ControllerStatusResponse response;
    EXPECT_TRUE(api_->ControllerStatus(&call, v1::ControllerStatusRequest(), &response).ok());
    std::map<std::string, uint32_t> protocols;
    for (const v1::HostStatus& host : response.hosts()) protocols[host.host_id()] = host.protocol_version();
    return protocols;
  }

  controller::TemporaryDirectory directory_;
  std::unique_ptr<controller::ControllerServer> server_;
  std::unique_ptr<v1::ControllerService::Stub> api_;
};

TEST_F(TwoVersionsTest, AgentsOfBothReleasesHoldTheSame) {
  RunningAgent previous(address(), "hv1", "192.0.2.1", kPrevious);
  RunningAgent present(address(), "hv2", "192.0.2.2", kPresent);
  RunningAgent only_present(address(), "hv3", "192.0.2.3", {kPresent.newest, kPresent.newest});
  const auto same = [&](uint64_t counter) {
    const auto expected = present.UntilApplied(counter);
    for (RunningAgent* other : {&previous, &only_present}) {
      const auto shown = other->UntilApplied(counter);
      ExpectSameState(*shown->state, *expected->state);
      EXPECT_THAT(shown->rejected, IsEmpty());
    }
    return expected->state->ports.size();
  };
  const uint64_t cloud = Apply(controller::RequestFrom(kCloud));
  // The hosts come into being by their first Hellos, in transactions of their own.
  for (RunningAgent* agent : {&previous, &present, &only_present}) {
    agent->Until(
        [](const inspect::AgentSnapshot& shown) { return shown.state && shown.state->hosts.size() == 3; });
  }
  EXPECT_EQ(same(cloud), 3U);

  const v1::ApplyRequest many = ManyPorts(5000);
  ASSERT_GT(many.ByteSizeLong(), controller::HostSync::kBatchBytes);
  EXPECT_EQ(same(Apply(many)), 5003U);
  EXPECT_EQ(same(Delete({model::Kind::kPort, "many-00007"})), 5002U);
  const std::map<std::string, uint32_t> expected = {
      {"hv1", 1}, {"hv2", kPresent.newest}, {"hv3", kPresent.newest}};
  EXPECT_EQ(Protocols(), expected);
}

TEST_F(TwoVersionsTest, AnAgentIsUpgradedAndTakenBack) {
  const uint64_t counter = Apply(controller::RequestFrom(kCloud));
  for (const model::ProtocolRange& range : {kPrevious, kPresent, kPrevious}) {
    RunningAgent agent(address(), "hv1", "192.0.2.1", range);
    EXPECT_EQ(agent.UntilApplied(counter)->state->ports.size(), 3U);
    EXPECT_EQ(Protocols()["hv1"], range.newest);
  }
}

TEST_F(TwoVersionsTest, WithoutAVersionInCommonBothRangesAreNamed) {
  RunningAgent agent(address(), "hv1", "192.0.2.1", kLater);
  const auto shown = agent.Until([](const inspect::AgentSnapshot& now) { return !now.problems.empty(); });
  EXPECT_FALSE(shown->synced);
  EXPECT_THAT(shown->problems,
              Contains(Field(&vswitch::Problem::message,
                             HasSubstr("versions 3 to 4 of the state protocol, this controller "
                                       "1 to 2; upgrade the controller"))));
}

}  // namespace
}  // namespace kasane
