// The controller as its clients see it: a real server on a free port, real streams.
#include "controller/server.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>

#include "controller/test_support.h"
#include "kasane/v1/controller.grpc.pb.h"
#include "kasane/v1/state.grpc.pb.h"
#include "model/fault_details.h"

namespace kasane::controller {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// After this long a call that waits in vain fails.
constexpr auto kPatience = std::chrono::seconds(60);

std::unique_ptr<grpc::ClientContext> Call() {
  auto context = std::make_unique<grpc::ClientContext>();
  context->set_deadline(std::chrono::system_clock::now() + kPatience);
  return context;
}

std::shared_ptr<grpc::Channel> Dial(const rpc::ListenAddress& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);  // A client that does not read takes 64 KB and no more.
  return grpc::CreateCustomChannel(address.ToString(), grpc::InsecureChannelCredentials(), arguments);
}

v1::Hello HelloOf(const std::string& host, const std::string& address, const std::string& instance = "run-1") {
  v1::Hello hello;
  hello.set_host_id(host);
  hello.set_protocol_version(1);
  if (!address.empty()) hello.add_tunnel_addresses(address);
  hello.set_instance_id(instance);
  hello.set_agent_version("test");
  return hello;
}

// What the controller sent up to some point.
struct Received {
  v1::Welcome welcome;
  std::vector<std::string> changes;  // "+port p1", "-port p2"
  std::map<model::ResourceKey, v1::Revision> held;
  v1::Revision revision;  // Of the last batch or SyncComplete.
};

// The agent's end of a stream.
class Agent {
 public:
  Agent(const rpc::ListenAddress& address, const v1::Hello& hello)
      : stub_(v1::NetworkStateService::NewStub(Dial(address))),
        call_(Call()),
        stream_(stub_->Stream(call_.get())) {
    v1::StreamRequest message;
    *message.mutable_hello() = hello;
    stream_->Write(message);
  }

  // Reads up to SyncComplete.
  Received Sync() {
    Received received;
    for (;;) {
      v1::StreamResponse message;
      if (!stream_->Read(&message)) {
        ADD_FAILURE() << "the stream ended: " << stream_->Finish().error_message();
        return received;
      }
      if (message.has_welcome()) received.welcome = message.welcome();
      if (message.has_batch()) Take(message.batch(), received);
      if (!message.has_sync_complete()) continue;
      received.revision = message.sync_complete().revision();
      return received;
    }
  }

  // Reads one batch.
  Received Batch() {
    Received received;
    v1::StreamResponse message;
    if (!stream_->Read(&message) || !message.has_batch()) {
      ADD_FAILURE() << "no batch";
    } else {
      Take(message.batch(), received);
    }
    return received;
  }

  void Report(const v1::Report& report) {
    v1::StreamRequest message;
    *message.mutable_report() = report;
    EXPECT_TRUE(stream_->Write(message));
  }

  void ReportActive(const v1::Revision& revision, const std::vector<std::string>& ports) {
    v1::Report report;
    *report.mutable_applied()->mutable_revision() = revision;
    for (const std::string& port : ports) report.mutable_applied()->add_active_ports(port);
    Report(report);
  }

  void SayAgain(const v1::Hello& hello) {
    v1::StreamRequest message;
    *message.mutable_hello() = hello;
    stream_->Write(message);
  }

  // Reads to the end.
  grpc::Status End() {
    v1::StreamResponse message;
    while (stream_->Read(&message)) {
    }
    return stream_->Finish();
  }

 private:
  static void Take(const v1::Batch& batch, Received& received) {
    for (const v1::Resource& resource : batch.upserts()) {
      const model::ResourceKey key = *model::DecodeKey(resource);
      received.changes.push_back("+" + ToString(key));
      received.held[key] = resource.revision();
    }
    for (const v1::ResourceKey& key : batch.deletes())
      received.changes.push_back("-" + ToString(*model::DecodeKey(key)));
    received.revision = batch.revision();
  }

  std::unique_ptr<v1::NetworkStateService::Stub> stub_;
  std::unique_ptr<grpc::ClientContext> call_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::StreamRequest, v1::StreamResponse>> stream_;
};

class Watch {
 public:
  Watch(const rpc::ListenAddress& address, const std::vector<v1::ResourceKind>& kinds,
        const std::optional<v1::Revision>& resume_after = std::nullopt)
      : stub_(v1::ControllerService::NewStub(Dial(address))), call_(Call()) {
    v1::WatchRequest request;
    for (const v1::ResourceKind kind : kinds) request.mutable_filter()->add_kinds(kind);
    if (resume_after) *request.mutable_resume_after() = *resume_after;
    reader_ = stub_->Watch(call_.get(), request);
  }

  std::optional<v1::WatchResponse> Next() {
    v1::WatchResponse event;
    if (!reader_->Read(&event)) return std::nullopt;
    return event;
  }

  // "+port p1", "-port p2", "synced"
  std::string NextText() {
    const std::optional<v1::WatchResponse> event = Next();
    if (!event) return "the end";
    if (event->has_synced()) return "synced";
    if (event->has_committed()) return fmt::format("committed {}", event->committed().counter());
    if (event->has_deleted()) return "-" + ToString(*model::DecodeKey(event->deleted()));
    return "+" + ToString(*model::DecodeKey(event->upsert().resource()));
  }

  std::vector<std::string> UntilSynced() {
    std::vector<std::string> texts;
    do {
      texts.push_back(NextText());
    } while (texts.back() != "synced" && texts.back() != "the end");
    return texts;
  }

  grpc::Status Finish() { return reader_->Finish(); }

 private:
  std::unique_ptr<v1::ControllerService::Stub> stub_;
  std::unique_ptr<grpc::ClientContext> call_;
  std::unique_ptr<grpc::ClientReader<v1::WatchResponse>> reader_;
};

class ServerTest : public testing::Test {
 protected:
  ServerTest() { Start(); }

  void Start() {
    auto server =
        ControllerServer::Start(*rpc::ListenAddress::Parse("127.0.0.1:0"), directory_.File("controller.db"));
    ASSERT_TRUE(server.ok()) << Message(server.status());
    server_ = *std::move(server);
    api_ = v1::ControllerService::NewStub(Dial(server_->address()));
  }

  void Restart() {
    server_.reset();
    Start();
  }

  v1::ApplyResponse Apply(v1::ApplyRequest request, bool dry_run = false) {
    if (dry_run) request.mutable_options()->set_dry_run(true);
    v1::ApplyResponse reply;
    const grpc::Status status = api_->Apply(Call().get(), request, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply;
  }

  // The faults that a refused Apply tells of.
  model::FaultDetails RefusedApply(const v1::ApplyRequest& request) {
    v1::ApplyResponse reply;
    const grpc::Status status = api_->Apply(Call().get(), request, &reply);
    EXPECT_FALSE(status.ok());
    return model::DecodeFaultDetails(status.error_details());
  }

  model::FaultDetails RefusedDelete(const std::vector<model::ResourceKey>& keys) {
    v1::DeleteRequest request;
    for (const model::ResourceKey& key : keys) *request.add_items()->mutable_key() = model::EncodeKey(key);
    v1::DeleteResponse reply;
    const grpc::Status status = api_->Delete(Call().get(), request, &reply);
    EXPECT_FALSE(status.ok());
    return model::DecodeFaultDetails(status.error_details());
  }

  grpc::Status Import(const v1::ApplyRequest& request, v1::ApplyResponse& response, int items_per_part = 100) {
    const auto call = Call();
    const auto stream = api_->Import(call.get());
    v1::ImportRequest part;
    *part.mutable_options() = request.options();
    for (const v1::ApplyItem& item : request.items()) {
      *part.add_items() = item;
      if (part.items_size() < items_per_part) continue;
      if (!stream->Write(part)) return stream->Finish();
      part.Clear();
    }
    part.set_last(true);
    stream->Write(part);
    stream->WritesDone();
    for (v1::ImportResponse answer; stream->Read(&answer);) response.MergeFrom(answer.result());
    return stream->Finish();
  }

  v1::ApplyResponse ApplyClean(const std::string& yaml) {
    v1::ApplyResponse reply = Apply(RequestFrom(yaml));
    for (const v1::Fault& fault : reply.faults()) ADD_FAILURE() << fault.path() << ": " << fault.message();
    return reply;
  }

  v1::DeleteResponse Delete(const std::vector<model::ResourceKey>& keys, bool dry_run = false) {
    v1::DeleteRequest request;
    for (const model::ResourceKey& key : keys) *request.add_items()->mutable_key() = model::EncodeKey(key);
    request.set_dry_run(dry_run);
    v1::DeleteResponse reply;
    const grpc::Status status = api_->Delete(Call().get(), request, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply;
  }

  v1::ResourceWithStatus Get(const model::ResourceKey& key) {
    v1::GetRequest request;
    *request.mutable_key() = model::EncodeKey(key);
    v1::GetResponse reply;
    const grpc::Status status = api_->Get(Call().get(), request, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply.resource();
  }

  v1::ListResponse List(const std::vector<v1::ResourceKind>& kinds = {}) {
    v1::ListRequest request;
    for (const v1::ResourceKind kind : kinds) request.mutable_filter()->add_kinds(kind);
    v1::ListResponse reply;
    EXPECT_TRUE(api_->List(Call().get(), request, &reply).ok());
    return reply;
  }

  v1::ControllerStatusResponse Status() {
    v1::ControllerStatusResponse reply;
    EXPECT_TRUE(api_->ControllerStatus(Call().get(), {}, &reply).ok());
    return reply;
  }

  const rpc::ListenAddress& address() const { return server_->address(); }

  const model::ResourceKey p1_{model::Kind::kPort, "p1"};
  TemporaryDirectory directory_;
  std::unique_ptr<ControllerServer> server_;
  std::unique_ptr<v1::ControllerService::Stub> api_;
};

std::vector<std::string> Changes(const google::protobuf::RepeatedPtrField<v1::ChangedResource>& changes) {
  std::vector<std::string> texts;
  for (const v1::ChangedResource& change : changes) {
    texts.push_back(v1::Change_Name(change.change()).substr(7) + " " +
                    ToString(*model::DecodeKey(change.key())) + " " + change.name());
  }
  return texts;
}

std::vector<std::string> Texts(const google::protobuf::RepeatedPtrField<v1::Fault>& faults) {
  std::vector<std::string> texts;
  for (const v1::Fault& fault : faults) texts.push_back(fault.path() + ": " + fault.message());
  return texts;
}

std::vector<std::string> Texts(const model::FaultDetails& details) {
  std::vector<std::string> texts;
  for (const model::Fault& fault : details.faults) texts.push_back(ToString(fault));
  return texts;
}

// ---- the API

TEST_F(ServerTest, AppliesTheRecordedTopologies) {
  for (const char* name : {"neutron-two-tenants.json", "neutron-shop-ads.json"}) {
    const v1::ApplyResponse reply = Apply(Recorded(name));
    EXPECT_THAT(Texts(reply.faults()), IsEmpty()) << name;
    EXPECT_EQ(reply.changes_size(), Recorded(name).items_size());
    EXPECT_NE(reply.not_enforced_size(), 0);
  }
  EXPECT_THAT(Status().counts(), SizeIs(8));
  EXPECT_EQ(List({v1::RESOURCE_KIND_PORT}).resources_size(), 18 + 34);
}

TEST_F(ServerTest, ApplyIsAllOrNothing) {
  const v1::ApplyRequest request = RequestFrom(R"(
networks: [{id: n1, provider:segmentation_id: 101}, {id: n2, provider:segmentation_id: 99999999}]
ports: [{id: p, network_id: nx, mac_address: "fa:16:3e:00:00:01"}]
)");
  const auto faults = ElementsAre(HasSubstr("networks[1].provider:segmentation_id: 99999999"),
                                  HasSubstr("ports[0].network_id: there is no network nx"));
  const model::FaultDetails details = RefusedApply(request);
  EXPECT_THAT(Texts(details), faults);
  EXPECT_EQ(details.total, 2U);
  EXPECT_EQ(details.reason, "INVALID_RESOURCES");
  EXPECT_THAT(List().resources(), IsEmpty());
  EXPECT_EQ(List().revision().counter(), 0U);
  const v1::ApplyResponse dry = Apply(request, true);
  EXPECT_THAT(Texts(dry.faults()), faults);
  EXPECT_THAT(dry.changes(), IsEmpty());
}

TEST_F(ServerTest, ADryRunSaysWhatWouldChangeAndStoresNothing) {
  const v1::ApplyResponse reply = Apply(RequestFrom(kSmallTopology), true);
  EXPECT_THAT(Texts(reply.faults()), IsEmpty());
  EXPECT_EQ(Changes(reply.changes())[1], "CREATED network n1 front");
  EXPECT_THAT(List().resources(), IsEmpty());
}

TEST_F(ServerTest, OnlyWhatDiffersGetsANewRevision) {
  EXPECT_EQ(ApplyClean(kSmallTopology).revision().counter(), 1U);
  const v1::ApplyResponse same = ApplyClean(kSmallTopology);
  EXPECT_EQ(same.revision().counter(), 1U);
  EXPECT_EQ(Changes(same.changes())[1], "UNCHANGED network n1 front");
  const v1::ApplyResponse one = ApplyClean(
      "networks: [{id: n1, name: new, provider:segmentation_id: 101}, {id: n2, name: back, "
      "provider:segmentation_id: "
      "102}]");
  EXPECT_THAT(Changes(one.changes()), ElementsAre("UPDATED network n1 new", "UNCHANGED network n2 back"));
  EXPECT_EQ(one.revision().counter(), 2U);
  EXPECT_EQ(Get({model::Kind::kNetwork, "n1"}).resource().revision().counter(), 2U);
  EXPECT_EQ(Get({model::Kind::kNetwork, "n2"}).resource().revision().counter(), 1U);
}

TEST_F(ServerTest, ReportsWhatIsNotEnforcedOfTheRequestOnly) {
  ApplyClean(kSmallTopology);
  const v1::ApplyResponse reply = ApplyClean("routers: [{id: r1, external_gateway_info: {network_id: ext}}]");
  ASSERT_EQ(reply.not_enforced_size(), 1);
  EXPECT_EQ(reply.not_enforced(0).feature(), "gateway");
  EXPECT_THAT(reply.not_enforced(0).detail(), HasSubstr("world"));
  EXPECT_EQ(Get({model::Kind::kRouter, "r1"}).not_enforced_size(), 1);
}

TEST_F(ServerTest, ShowsTheInterfacesOfARouter) {
  ApplyClean(kSmallTopology);
  const v1::ResourceWithStatus router = Get({model::Kind::kRouter, "r1"});
  ASSERT_EQ(router.resource().router().interfaces_size(), 2);
  EXPECT_EQ(router.resource().router().interfaces(0).port_id(), "i1");
  EXPECT_EQ(router.resource().router().interfaces(0).fixed_ips(0).ip_address(), "10.0.1.1");
}

TEST_F(ServerTest, GetOfWhatIsNotThere) {
  v1::GetRequest request;
  *request.mutable_key() = model::EncodeKey(p1_);
  v1::GetResponse reply;
  const grpc::Status status = api_->Get(Call().get(), request, &reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "there is no port p1");
}

TEST_F(ServerTest, DeletesAllOrNothing) {
  ApplyClean(kSmallTopology);
  EXPECT_THAT(Texts(RefusedDelete({{model::Kind::kPort, "p2"}, {model::Kind::kNetwork, "n1"}})),
              ElementsAre(HasSubstr("items[1]: network n1 is still used by subnet s1")));
  EXPECT_EQ(Get({model::Kind::kPort, "p2"}).resource().port().id(), "p2");
  EXPECT_THAT(Changes(Delete({{model::Kind::kPort, "p2"}}, true).changes()),
              ElementsAre("DELETED port p2 vm2"));
  EXPECT_EQ(Status().current().counter(), 1U);
  EXPECT_EQ(Delete({{model::Kind::kPort, "p2"}}).revision().counter(), 2U);
  EXPECT_THAT(List({v1::RESOURCE_KIND_PORT}).resources(), SizeIs(5));
}

TEST_F(ServerTest, KeepsEverythingOverARestart) {
  ApplyClean(kSmallTopology);
  const std::string before = List().resources(3).SerializeAsString();
  const v1::ControllerStatusResponse status = Status();
  Restart();
  EXPECT_EQ(List().resources(3).SerializeAsString(), before);
  EXPECT_EQ(Status().store_id(), status.store_id());
  EXPECT_EQ(Status().current().counter(), 1U);
  EXPECT_NE(Status().current().timeline(), status.current().timeline());
  EXPECT_EQ(ApplyClean(kSmallTopology).revision().counter(), 1U);
}

TEST_F(ServerTest, NamesAPortThatIsInUse) {
  const auto second = ControllerServer::Start(address(), directory_.File("other.db"));
  EXPECT_THAT(Message(second.status()), HasSubstr(address().ToString() + " is in use by another program"));
}

// ---- watching

TEST_F(ServerTest, WatchersSeeThePresentThenEachChange) {
  ApplyClean(kSmallTopology);
  Watch watch(address(), {v1::RESOURCE_KIND_NETWORK, v1::RESOURCE_KIND_ROUTER});
  EXPECT_THAT(watch.UntilSynced(),
              ElementsAre("+network ext", "+network n1", "+network n2", "+router r1", "synced"));
  ApplyClean("networks: [{id: n3, provider:segmentation_id: 103}]");
  EXPECT_EQ(watch.NextText(), "+network n3");
  EXPECT_EQ(watch.NextText(), "committed 2");
  EXPECT_THAT(Texts(Delete({{model::Kind::kNetwork, "n3"}}).faults()), IsEmpty());
  EXPECT_EQ(watch.NextText(), "-network n3");
  EXPECT_EQ(watch.NextText(), "committed 3");
  EXPECT_THAT(Texts(Delete({{model::Kind::kPort, "i1"}}).faults()), IsEmpty());
  const std::optional<v1::WatchResponse> router = watch.Next();  // Its interfaces changed with the port.
  ASSERT_TRUE(router);
  EXPECT_EQ(router->upsert().resource().router().interfaces_size(), 1);
}

// 6,000 ports on hv1, about 3 MB. Another `name` changes them all.
v1::ApplyRequest ManyPorts(char name) {
  v1::ApplyRequest request = RequestFrom("networks: [{id: n1, provider:segmentation_id: 101}]");
  for (int i = 0; i < 6000; ++i) {
    v1::Port& port = *request.add_items()->mutable_resource()->mutable_port();
    port.set_id(fmt::format("q{}", i));
    port.set_name(std::string(200, name));
    port.set_network_id("n1");
    port.set_mac_address(fmt::format("fa:16:3e:01:{:02x}:{:02x}", i / 256, i % 256));
    port.set_binding_host_id("hv1");
  }
  return request;
}

TEST_F(ServerTest, ASlowWatcherIsEndedAndHoldsUpNobody) {
  Watch slow(address(), {});
  Watch fast(address(), {});
  EXPECT_THAT(slow.UntilSynced(), ElementsAre("synced"));
  EXPECT_THAT(fast.UntilSynced(), ElementsAre("synced"));
  for (const char name : {'a', 'b', 'c', 'd', 'e'}) {
    Apply(ManyPorts(name));
    std::string text;
    do {
      text = fast.NextText();
      ASSERT_NE(text, "the end");
    } while (text != "+port q999");  // The last one by id.
  }
  while (slow.Next()) {
  }
  const grpc::Status status = slow.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
}

// ---- the stream to the agents

TEST_F(ServerTest, AnAgentGetsItsScope) {
  ApplyClean(kSmallTopology);
  Agent agent(address(), HelloOf("hv1", "192.0.2.1"));
  const Received sync = agent.Sync();
  EXPECT_THAT(sync.welcome.timelines(), SizeIs(1));
  EXPECT_EQ(sync.welcome.store_id(), Status().store_id());
  EXPECT_THAT(sync.changes, ElementsAre("+host hv1", "+network ext", "+network n1", "+network n2", "+subnet s1",
                                        "+subnet s2", "+port i1", "+port i2", "+port p1", "+port p2",
                                        "+router r1", "+floating_ip f1", "+security_group g1"));
  EXPECT_EQ(sync.revision.counter(), 1U);
  const v1::ControllerStatusResponse status = Status();
  ASSERT_EQ(status.hosts_size(), 1);
  EXPECT_TRUE(status.hosts(0).connected());
  EXPECT_EQ(status.hosts(0).ports(), 2U);
  EXPECT_EQ(status.hosts(0).agent_version(), "test");
}

TEST_F(ServerTest, AnAgentIsSentOnlyWhatItDoesNotHoldAlsoAfterARestart) {
  ApplyClean(kSmallTopology);
  v1::Hello hello = HelloOf("hv1", "192.0.2.1");
  for (const auto& [key, revision] : Agent(address(), hello).Sync().held) {
    v1::HeldResource& held = *hello.add_held();
    *held.mutable_key() = model::EncodeKey(key);
    *held.mutable_revision() = revision;
  }
  *hello.add_held()->mutable_key() = model::EncodeKey({model::Kind::kPort, "gone"});
  Restart();
  const Received sync = Agent(address(), hello).Sync();
  EXPECT_THAT(sync.changes, ElementsAre("-port gone"));
  EXPECT_THAT(sync.welcome.timelines(), SizeIs(2));
}

TEST_F(ServerTest, ATransactionArrivesAsOneBatchAtTheHostsThatItConcerns) {
  ApplyClean(kSmallTopology);
  Agent hv1(address(), HelloOf("hv1", "192.0.2.1"));
  Agent hv2(address(), HelloOf("hv2", "192.0.2.2"));
  hv1.Sync();
  EXPECT_THAT(hv2.Sync().changes, ElementsAre("+host hv2"));
  const v1::ApplyResponse reply = ApplyClean(R"(
ports:
- {id: q1, network_id: n1, mac_address: "fa:16:3e:00:01:01", binding:host_id: hv1}
- {id: q2, network_id: n1, mac_address: "fa:16:3e:00:01:02", binding:host_id: hv1}
)");
  const Received batch = hv1.Batch();
  EXPECT_THAT(batch.changes, ElementsAre("+port q1", "+port q2"));
  EXPECT_EQ(batch.revision.counter(), reply.revision().counter());
  // hv2's next batch is of its own first port: it was sent nothing of the above.
  ApplyClean("networks: [{id: n3, provider:segmentation_id: 103}]");
  ApplyClean("ports: [{id: q3, network_id: n3, mac_address: \"fa:16:3e:00:01:03\", binding:host_id: hv2}]");
  EXPECT_THAT(hv2.Batch().changes, ElementsAre("+network n3", "+port q3"));
}

TEST_F(ServerTest, AHostComesIntoBeingAtItsFirstHello) {
  const v1::ApplyResponse reply = ApplyClean(
      "networks: [{id: n3, provider:segmentation_id: 103}]\n"
      "ports: [{id: q, network_id: n3, mac_address: \"fa:16:3e:00:01:03\", binding:host_id: hv5}]");
  EXPECT_THAT(Texts(reply.warnings()),
              ElementsAre(HasSubstr("ports[0].binding:host_id: host hv5 has not been seen")));
  EXPECT_THAT(Agent(address(), HelloOf("hv5", "192.0.2.5")).Sync().changes,
              ElementsAre("+host hv5", "+network n3", "+port q"));
  const v1::ResourceWithStatus host = Get({model::Kind::kHost, "hv5"});
  EXPECT_THAT(host.resource().host().tunnel_addresses(), ElementsAre("192.0.2.5"));
  EXPECT_FALSE(host.resource().host().pinned());
  Agent moved(address(), HelloOf("hv5", "192.0.2.55"));  // The same run, with another address.
  EXPECT_THAT(moved.Sync().changes, ElementsAre("+host hv5", "+network n3", "+port q"));
  EXPECT_THAT(Get({model::Kind::kHost, "hv5"}).resource().host().tunnel_addresses(), ElementsAre("192.0.2.55"));
}

TEST_F(ServerTest, AConnectedHostIsNotDeleted) {
  Agent agent(address(), HelloOf("hv5", "192.0.2.5"));
  agent.Sync();
  EXPECT_THAT(Texts(RefusedDelete({{model::Kind::kHost, "hv5"}})),
              ElementsAre("items[0]: the agent of host hv5 is connected; stop it first"));
}

// A Hello that is refused, with the status and what its message must name.
struct Refused {
  std::string name;
  v1::Hello hello;
  grpc::StatusCode code;
  std::vector<std::string> parts;
};

std::vector<Refused> RefusedHellos() {
  std::vector<Refused> all;
  all.push_back({"Version",
                 HelloOf("hv2", "192.0.2.2"),
                 grpc::StatusCode::FAILED_PRECONDITION,
                 {"versions 7 to 9", "this controller 1 to 2", "upgrade the controller"}});
  all.back().hello.set_protocol_version(7);
  all.back().hello.set_max_protocol_version(9);
  all.push_back({"PinnedAddress",
                 HelloOf("hv1", "192.0.2.99"),
                 grpc::StatusCode::FAILED_PRECONDITION,
                 {"host hv1", "192.0.2.99", "pinned to 192.0.2.1"}});
  all.push_back({"AddressOfAnother",
                 HelloOf("hv2", "192.0.2.1"),
                 grpc::StatusCode::FAILED_PRECONDITION,
                 {"host hv2", "192.0.2.1", "belongs to host hv1"}});
  all.push_back({"NoHostId", HelloOf("", "192.0.2.2"), grpc::StatusCode::INVALID_ARGUMENT, {"hello.id"}});
  all.push_back({"NoAddress",
                 HelloOf("hv2", "here"),
                 grpc::StatusCode::INVALID_ARGUMENT,
                 {"hello.tunnel_addresses[0]", "here"}});
  all.push_back(
      {"NoInstance", HelloOf("hv2", "192.0.2.2", ""), grpc::StatusCode::INVALID_ARGUMENT, {"instance_id"}});
  all.push_back(
      {"UnknownKind", HelloOf("hv2", "192.0.2.2"), grpc::StatusCode::INVALID_ARGUMENT, {"hello.held[0].key"}});
  all.back().hello.add_held();
  return all;
}

TEST_F(ServerTest, RefusesAHelloThatCannotBeServed) {
  ApplyClean(kSmallTopology);
  for (const Refused& refused : RefusedHellos()) {
    SCOPED_TRACE(refused.name);
    const grpc::Status status = Agent(address(), refused.hello).End();
    EXPECT_EQ(status.error_code(), refused.code);
    for (const std::string& part : refused.parts) EXPECT_THAT(status.error_message(), HasSubstr(part));
  }
  EXPECT_THAT(List({v1::RESOURCE_KIND_HOST}).resources(), SizeIs(1));
}

TEST_F(ServerTest, HostsThatExchangeAddressesAreAdmittedWhenTheLastHasCome) {
  for (const auto& [host, ip] : {std::pair("a", "192.0.2.11"), {"b", "192.0.2.12"}, {"c", "192.0.2.13"}})
    Agent(address(), HelloOf(host, ip)).Sync();
  const auto refusal = [&](const char* host, const char* ip) {
    return Agent(address(), HelloOf(host, ip, "run-2")).End().error_message();
  };
  EXPECT_THAT(refusal("a", "192.0.2.12"), HasSubstr("belongs to host b"));
  EXPECT_THAT(refusal("b", "192.0.2.13"), HasSubstr("belongs to host c"));
  // Who is in no circle takes nothing.
  EXPECT_THAT(refusal("d", "192.0.2.12"), HasSubstr("belongs to host"));
  EXPECT_THAT(Get({model::Kind::kHost, "b"}).resource().host().tunnel_addresses(), ElementsAre("192.0.2.12"));
  const uint64_t before = Status().current().counter();
  Agent(address(), HelloOf("c", "192.0.2.11", "run-2")).Sync();
  EXPECT_EQ(Status().current().counter(), before + 1);
  for (const auto& [host, ip] : {std::pair("a", "192.0.2.12"), {"b", "192.0.2.13"}, {"c", "192.0.2.11"}})
    EXPECT_THAT(Get({model::Kind::kHost, host}).resource().host().tunnel_addresses(), ElementsAre(ip));
  Agent(address(), HelloOf("a", "192.0.2.12", "run-2")).Sync();
  EXPECT_EQ(Status().current().counter(), before + 1);
}

TEST_F(ServerTest, RefusesASecondAgentWhileTheFirstLives) {
  std::optional<Agent> first(std::in_place, address(), HelloOf("hv1", "192.0.2.1", "run-1"));
  first->Sync();
  const grpc::Status status = Agent(address(), HelloOf("hv1", "192.0.2.1", "run-2")).End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_THAT(status.error_message(), AllOf(HasSubstr("a second agent for host hv1"), HasSubstr("127.0.0.1:")));
  // The same run comes again, before the controller noticed that the old stream is dead.
  Agent again(address(), HelloOf("hv1", "192.0.2.1", "run-1"));
  again.Sync();
  EXPECT_EQ(first->End().error_code(), grpc::StatusCode::CANCELLED);
  ApplyClean(kSmallTopology);
  EXPECT_THAT(again.Batch().changes, testing::Contains("+port p1"));
}

TEST_F(ServerTest, RefusesASecondHelloOnOneStream) {
  Agent agent(address(), HelloOf("hv1", "192.0.2.1"));
  agent.Sync();
  agent.SayAgain(HelloOf("hv1", "192.0.2.1"));
  const grpc::Status status = agent.End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("say Hello on a new stream"));
}

TEST_F(ServerTest, APortBecomesActiveWhenItsHostHasAppliedIt) {
  ApplyClean(kSmallTopology);
  EXPECT_EQ(Get(p1_).port_status(), v1::PORT_STATUS_BUILD);
  EXPECT_EQ(Get({model::Kind::kPort, "i1"}).port_status(), v1::PORT_STATUS_ACTIVE);
  Watch watch(address(), {v1::RESOURCE_KIND_PORT});
  watch.UntilSynced();
  Agent agent(address(), HelloOf("hv1", "192.0.2.1"));
  agent.ReportActive(agent.Sync().revision, {"p1"});
  const std::optional<v1::WatchResponse> event = watch.Next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->upsert().resource().port().id(), "p1");
  EXPECT_EQ(event->upsert().port_status(), v1::PORT_STATUS_ACTIVE);
  EXPECT_EQ(Get(p1_).port_status(), v1::PORT_STATUS_ACTIVE);
  EXPECT_EQ(Get(p1_).resource().revision().counter(), 1U);
  EXPECT_EQ(Status().current().counter(), 1U);
  EXPECT_EQ(Status().hosts(0).active_ports(), 1U);
  Restart();
  EXPECT_EQ(Get(p1_).port_status(), v1::PORT_STATUS_ACTIVE);
}

TEST_F(ServerTest, AClaimThatAHostObservedGoesToTheHostsInScopeAndStays) {
  ApplyClean(kSmallTopology);
  Agent agent(address(), HelloOf("hv1", "192.0.2.1"));
  agent.Sync();
  v1::Report report;
  v1::AddressClaim& claim = *report.add_observed();
  claim.set_network_id("n1");
  claim.set_ip_address("10.0.1.5");
  claim.set_mac_address("fa:16:3e:00:00:01");
  claim.set_port_id("p1");
  claim.set_sequence(3);
  agent.Report(report);
  EXPECT_THAT(agent.Batch().changes, ElementsAre("+address_claim n1/10.0.1.5"));
  const v1::ListResponse listed = List({v1::RESOURCE_KIND_ADDRESS_CLAIM});
  ASSERT_EQ(listed.resources_size(), 1);
  EXPECT_EQ(listed.resources(0).resource().address_claim().sequence(), 3U);
}

TEST_F(ServerTest, ShowsWhatAHostRejects) {
  ApplyClean(kSmallTopology);
  Watch watch(address(), {v1::RESOURCE_KIND_PORT});
  watch.UntilSynced();
  Agent agent(address(), HelloOf("hv1", "192.0.2.1"));
  const Received sync = agent.Sync();
  v1::Report report;
  v1::Verdict& verdict = *report.add_verdicts();
  *verdict.mutable_key() = model::EncodeKey(p1_);
  *verdict.mutable_revision() = sync.held.at(p1_);
  v1::Fault& fault = *verdict.add_faults();
  fault.set_path("port p1.mac_address");
  fault.set_message("odd");
  *report.mutable_applied()->mutable_revision() = sync.revision;
  report.mutable_applied()->add_active_ports("p2");  // Seen by the watcher: then the verdict is taken too.
  agent.Report(report);
  watch.Next();
  const v1::ResourceWithStatus port = Get(p1_);
  ASSERT_EQ(port.rejections_size(), 1);
  EXPECT_EQ(port.rejections(0).host_id(), "hv1");
  EXPECT_THAT(Texts(port.rejections(0).faults()), ElementsAre("port p1.mac_address: odd"));
  EXPECT_EQ(Status().hosts(0).rejected(), 1U);
}

TEST_F(ServerTest, ASlowAgentHoldsUpNobodyAndGetsTheNewest) {
  Agent slow(address(), HelloOf("hv1", "192.0.2.1"));
  Agent fast(address(), HelloOf("hv2", "192.0.2.2"));
  slow.Sync();
  fast.Sync();
  ApplyClean(
      "networks: [{id: n1, provider:segmentation_id: 101}]\n"
      "ports: [{id: f, network_id: n1, mac_address: \"fa:16:3e:02:00:01\", binding:host_id: hv2}]");
  uint64_t last = 0;
  for (const char name : {'a', 'b', 'c', 'd'}) {
    last = Apply(ManyPorts(name)).revision().counter();
    while (fast.Batch().revision.counter() != last) {
    }
  }
  while (slow.Batch().revision.counter() != last) {
  }
}

TEST_F(ServerTest, StoppingEndsStreamsAndWatchers) {
  Agent agent(address(), HelloOf("hv1", "192.0.2.1"));
  agent.Sync();
  Watch watch(address(), {});
  watch.UntilSynced();
  server_.reset();
  EXPECT_FALSE(agent.End().ok());
  EXPECT_EQ(watch.NextText(), "the end");
  EXPECT_EQ(watch.Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace kasane::controller
