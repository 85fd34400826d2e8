// What ControllerService promises beyond storing: defaults, revisions, sources, partial success, pages,
// resuming, and limits that hold before a message is parsed.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/support/proto_buffer_writer.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "controller/server.h"
#include "controller/test_support.h"
#include "kasane/v1/controller.grpc.pb.h"
#include "model/fault_details.h"

namespace kasane::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ApiTest : public testing::Test {
 protected:
  ApiTest() {
    auto server =
        ControllerServer::Start(*rpc::ListenAddress::Parse("127.0.0.1:0"), directory_.File("controller.db"));
    EXPECT_TRUE(server.ok()) << Message(server.status());
    server_ = *std::move(server);
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    channel_ =
        grpc::CreateCustomChannel(server_->address().ToString(), grpc::InsecureChannelCredentials(), arguments);
    api_ = v1::ControllerService::NewStub(channel_);
  }

  static std::unique_ptr<grpc::ClientContext> Call() {
    auto context = std::make_unique<grpc::ClientContext>();
    context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    return context;
  }

  grpc::Status Apply(const v1::ApplyRequest& request, v1::ApplyResponse& response) {
    return api_->Apply(Call().get(), request, &response);
  }
  v1::ApplyResponse Stored(const v1::ApplyRequest& request) {
    v1::ApplyResponse response;
    const grpc::Status status = Apply(request, response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  v1::Resource Get(v1::ResourceKind kind, const std::string& id) {
    v1::GetRequest request;
    request.mutable_key()->set_kind(kind);
    request.mutable_key()->set_id(id);
    v1::GetResponse response;
    const grpc::Status status = api_->Get(Call().get(), request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.resource().resource();
  }
  std::vector<std::string> Ids(const v1::ResourceFilter& filter, uint32_t page_size = 0) {
    v1::ListKeysRequest request;
    *request.mutable_filter() = filter;
    request.set_page_size(page_size);
    std::vector<std::string> ids;
    do {
      v1::ListKeysResponse response;
      EXPECT_TRUE(api_->ListKeys(Call().get(), request, &response).ok());
      for (const v1::ResourceHead& head : response.resources()) ids.push_back(head.key().id());
      request.set_page_token(response.next_page_token());
    } while (!request.page_token().empty());
    return ids;
  }
  grpc::Status Delete(v1::ResourceKind kind, const std::string& id, v1::DeleteResponse& response) {
    v1::DeleteRequest request;
    request.add_items()->mutable_key()->set_kind(kind);
    request.mutable_items(0)->mutable_key()->set_id(id);
    return api_->Delete(Call().get(), request, &response);
  }

  TemporaryDirectory directory_;
  std::unique_ptr<ControllerServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::ControllerService::Stub> api_;
};

v1::ApplyRequest Of(const std::string& source, uint64_t source_revision, const std::string& yaml) {
  v1::ApplyRequest request = RequestFrom(yaml);
  request.mutable_options()->set_source(source);
  for (v1::ApplyItem& item : *request.mutable_items())
    item.mutable_resource()->set_source_revision(source_revision);
  return request;
}

std::string Network(const std::string& id, int vni) {
  return fmt::format("networks: [{{id: {}, provider:segmentation_id: {}}}]\n", id, vni);
}

std::vector<std::string> Texts(const google::protobuf::RepeatedPtrField<v1::Fault>& faults) {
  std::vector<std::string> texts;
  for (const v1::Fault& fault : faults) texts.push_back(fault.path() + ": " + fault.message());
  return texts;
}

// ---- defaults

TEST_F(ApiTest, APortThatDoesNotSayHasPortSecurityAndIsUp) {
  v1::ApplyRequest request;
  v1::Network& network = *request.add_items()->mutable_resource()->mutable_network();
  network.set_id("n1");
  network.set_provider_segmentation_id(101);
  v1::Port& port = *request.add_items()->mutable_resource()->mutable_port();
  port.set_id("p1");
  port.set_network_id("n1");
  port.set_mac_address("fa:16:3e:00:00:01");
  Stored(request);
  const v1::Port stored = Get(v1::RESOURCE_KIND_PORT, "p1").port();
  EXPECT_TRUE(stored.has_port_security_enabled() && stored.port_security_enabled());
  EXPECT_TRUE(stored.has_admin_state_up() && stored.admin_state_up());
  const v1::Network stored_network = Get(v1::RESOURCE_KIND_NETWORK, "n1").network();
  EXPECT_TRUE(stored_network.admin_state_up());
  EXPECT_EQ(stored_network.mtu(), 1450U);
}

TEST_F(ApiTest, APortThatDoesNotSayHasThePortSecurityOfItsNetwork) {
  Stored(RequestFrom("networks: [{id: n1, provider:segmentation_id: 101, port_security_enabled: false}]"));
  Stored(RequestFrom(
      "ports: [{id: p1, network_id: n1, mac_address: \"fa:16:3e:00:00:01\"},"
      " {id: p2, network_id: n1, mac_address: \"fa:16:3e:00:00:02\", port_security_enabled: true}]"));
  EXPECT_FALSE(Get(v1::RESOURCE_KIND_PORT, "p1").port().port_security_enabled());
  EXPECT_TRUE(Get(v1::RESOURCE_KIND_PORT, "p2").port().port_security_enabled());
}

// ---- revisions and sources

TEST_F(ApiTest, AnExpectedRevisionMustBeThePresentOne) {
  v1::ApplyRequest request = RequestFrom(Network("n1", 101));
  request.mutable_items(0)->mutable_expected_revision()->set_counter(0);
  const v1::Revision created = Stored(request).revision();
  v1::ApplyResponse response;
  grpc::Status status = Apply(request, response);  // It is there by now.
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  const model::FaultDetails details = model::DecodeFaultDetails(status.error_details());
  EXPECT_EQ(details.reason, "REVISION_MISMATCH");
  ASSERT_EQ(details.faults.size(), 1U);
  EXPECT_EQ(ToString(details.faults[0]),
            "networks[0]: is there already, at revision 1, but is expected not to be");
  request.mutable_items(0)->mutable_resource()->mutable_network()->set_name("new");
  *request.mutable_items(0)->mutable_expected_revision() = created;
  EXPECT_EQ(Stored(request).revision().counter(), 2U);
  status = Apply(request, response);
  EXPECT_THAT(status.error_message(), HasSubstr("is at revision 2, but 1 is expected"));
}

TEST_F(ApiTest, AnOlderWriteOfASourceIsRefused) {
  Stored(Of("neutron", 7, Network("n1", 101)));
  v1::ApplyResponse response;
  const grpc::Status older = Apply(Of("neutron", 6, Network("n1", 102)), response);
  EXPECT_EQ(older.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(older.error_message(),
              HasSubstr("is revision 6 of the source neutron, which has stored revision 7"));
  EXPECT_EQ(Get(v1::RESOURCE_KIND_NETWORK, "n1").network().provider_segmentation_id(), 101U);
  Stored(Of("neutron", 8, Network("n1", 103)));
  const v1::Resource stored = Get(v1::RESOURCE_KIND_NETWORK, "n1");
  EXPECT_EQ(stored.source(), "neutron");
  EXPECT_EQ(stored.source_revision(), 8U);
  Stored(Of("other", 1, Network("n1", 104)));  // The revisions of different sources do not compare.
}

TEST_F(ApiTest, DeletingWhatIsNotThereChangesNothing) {
  Stored(RequestFrom(Network("n1", 101)));
  for (const v1::Change change : {v1::CHANGE_DELETED, v1::CHANGE_UNCHANGED}) {
    v1::DeleteResponse response;
    ASSERT_TRUE(Delete(v1::RESOURCE_KIND_NETWORK, "n1", response).ok());
    ASSERT_EQ(response.changes_size(), 1);
    EXPECT_EQ(response.changes(0).change(), change);
    EXPECT_EQ(response.revision().counter(), 2U);
  }
}

// ---- partial success, full synchronisation

constexpr const char* kPartlyBad = R"(
networks: [{id: n1, provider:segmentation_id: 101}, {id: n2, provider:segmentation_id: 99999999}]
subnets:
- {id: s1, network_id: n1, ip_version: 4, cidr: 10.0.1.0/24}
- {id: s2, network_id: n2, ip_version: 4, cidr: 10.0.2.0/24}
ports:
- {id: p1, network_id: n1, mac_address: "fa:16:3e:00:00:01", fixed_ips: [{subnet_id: s1, ip_address: 10.0.1.5}]}
- {id: p2, network_id: n2, mac_address: "fa:16:3e:00:00:02", fixed_ips: [{subnet_id: s2, ip_address: 10.0.2.5}]}
)";

TEST_F(ApiTest, BestEffortStoresTheGoodAndNamesTheOthers) {
  v1::ApplyRequest request = RequestFrom(kPartlyBad);
  request.mutable_options()->set_best_effort(true);
  const v1::ApplyResponse response = Stored(request);
  EXPECT_EQ(response.changes_size(), 3);
  EXPECT_THAT(Ids({}), ElementsAre("n1", "s1", "p1"));
  // The subnet and the port go with their network.
  EXPECT_THAT(Texts(response.faults()),
              ElementsAre(HasSubstr("networks[1].provider:segmentation_id"), HasSubstr("subnets[1].network_id"),
                          HasSubstr("ports[1].network_id")));
}

TEST_F(ApiTest, PruneDeletesWhatTheSourceHasNoMore) {
  Stored(Of("neutron", 1, Network("n1", 101)));
  Stored(Of("neutron", 1, Network("n2", 102)));
  Stored(RequestFrom(Network("by-hand", 103)));
  v1::ApplyRequest sync = Of("neutron", 2, Network("n1", 101));
  sync.mutable_options()->set_prune(true);
  const v1::ApplyResponse response = Stored(sync);
  ASSERT_EQ(response.changes_size(), 2);
  EXPECT_EQ(response.changes(1).key().id(), "n2");
  EXPECT_EQ(response.changes(1).change(), v1::CHANGE_DELETED);
  EXPECT_THAT(Ids({}), ElementsAre("by-hand", "n1"));
  sync.mutable_options()->clear_source();
  v1::ApplyResponse refused;
  EXPECT_THAT(Apply(sync, refused).error_message(), HasSubstr("needs options.source"));
}

TEST_F(ApiTest, WhatAnotherSourceNeedsIsNotPruned) {
  Stored(Of("neutron", 1, Network("n1", 101)));
  Stored(RequestFrom("ports: [{id: p1, network_id: n1, mac_address: \"fa:16:3e:00:00:01\"}]"));
  v1::ApplyRequest sync = Of("neutron", 2, Network("n3", 103));
  sync.mutable_options()->set_prune(true);
  sync.mutable_options()->set_best_effort(true);
  const v1::ApplyResponse response = Stored(sync);
  EXPECT_THAT(Texts(response.faults()),
              ElementsAre(HasSubstr("pruned network n1: network n1 is still used by port p1")));
  EXPECT_THAT(Ids({}), ElementsAre("n1", "n3", "p1"));
}

// ---- Import

v1::ApplyItem PortItem(int number) {
  v1::ApplyItem item;
  v1::Port& port = *item.mutable_resource()->mutable_port();
  port.set_id(fmt::format("port-{:06}", number));
  port.set_network_id("n1");
  port.set_mac_address(
      fmt::format("fa:16:{:02x}:{:02x}:{:02x}:01", number >> 16, (number >> 8) & 255, number & 255));
  return item;
}

TEST_F(ApiTest, AnImportArrivesInPartsAndIsOneTransaction) {
  Stored(RequestFrom(Network("n1", 101)));
  const auto call = Call();
  const auto stream = api_->Import(call.get());
  constexpr int kParts = 6;
  for (int part = 0; part < kParts; ++part) {
    v1::ImportRequest request;
    for (int i = 0; i < 2'000; ++i) *request.add_items() = PortItem(part * 2'000 + i);
    request.set_last(part + 1 == kParts);
    ASSERT_TRUE(stream->Write(request));
  }
  v1::ApplyResponse merged;
  int parts = 0;
  for (v1::ImportResponse response; stream->Read(&response); ++parts) merged.MergeFrom(response.result());
  ASSERT_TRUE(stream->Finish().ok());
  EXPECT_GT(parts, 1);
  EXPECT_EQ(merged.changes_size(), kParts * 2'000);
  EXPECT_EQ(merged.revision().counter(), 2U);
  EXPECT_EQ(Ids({}).size(), kParts * 2'000U + 1);
}

TEST_F(ApiTest, AnImportThatEndsWithoutItsLastPartChangesNothing) {
  const auto call = Call();
  const auto stream = api_->Import(call.get());
  v1::ImportRequest request;
  *request.add_items() = RequestFrom(Network("n1", 101)).items(0);
  ASSERT_TRUE(stream->Write(request));
  stream->WritesDone();
  v1::ImportResponse response;
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_THAT(Ids({}), IsEmpty());
}

// ---- pages and filters

TEST_F(ApiTest, ListsPageByPage) {
  Stored(RequestFrom(kSmallTopology));
  const std::vector<std::string> all = Ids({});
  EXPECT_EQ(Ids({}, 1), all);
  EXPECT_EQ(Ids({}, 4), all);
  v1::ListRequest request;
  request.set_page_size(3);
  request.set_page_token("nonsense");
  v1::ListResponse response;
  EXPECT_EQ(api_->List(Call().get(), request, &response).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ApiTest, FiltersByKindNetworkHostAndProject) {
  Stored(RequestFrom(kSmallTopology));
  Stored(RequestFrom("networks: [{id: n9, provider:segmentation_id: 109, project_id: ads}]"));
  v1::ResourceFilter of_network;
  of_network.set_network_id("n1");
  EXPECT_THAT(Ids(of_network), ElementsAre("n1", "s1", "i1", "p1", "r1"));
  v1::ResourceFilter ports_of_network = of_network;
  ports_of_network.add_kinds(v1::RESOURCE_KIND_PORT);
  EXPECT_THAT(Ids(ports_of_network), ElementsAre("i1", "p1"));
  v1::ResourceFilter of_host;
  of_host.set_host_id("hv1");
  EXPECT_THAT(Ids(of_host), ElementsAre("hv1", "p1", "p2"));
  v1::ResourceFilter of_project;
  of_project.set_project_id("ads");
  EXPECT_THAT(Ids(of_project), ElementsAre("n9"));
}

// ---- resuming a watch

TEST_F(ApiTest, AWatchResumesBehindARevision) {
  const v1::Revision known = Stored(RequestFrom(Network("n1", 101))).revision();
  Stored(RequestFrom(Network("n2", 102)));
  v1::DeleteResponse deleted;
  ASSERT_TRUE(Delete(v1::RESOURCE_KIND_NETWORK, "n1", deleted).ok());
  v1::WatchRequest request;
  *request.mutable_resume_after() = known;
  const auto call = Call();
  const auto reader = api_->Watch(call.get(), request);
  v1::WatchResponse event;
  ASSERT_TRUE(reader->Read(&event));
  EXPECT_EQ(event.deleted().id(), "n1");
  ASSERT_TRUE(reader->Read(&event));
  EXPECT_EQ(event.upsert().resource().network().id(), "n2");
  ASSERT_TRUE(reader->Read(&event));
  EXPECT_EQ(event.synced().counter(), 3U);
  call->TryCancel();

  request.mutable_resume_after()->set_timeline("of another run");
  const auto second = Call();
  const auto refused = api_->Watch(second.get(), request);
  EXPECT_FALSE(refused->Read(&event));
  EXPECT_EQ(refused->Finish().error_code(), grpc::StatusCode::OUT_OF_RANGE);
}

// ---- limits

size_t PeakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoul(line.substr(6)) * 1024;
  }
  return 0;
}

// Sends bytes as the request of a method, as a client does that keeps to no limit.
grpc::Status Send(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                  const std::string& bytes) {
  grpc::GenericStub stub(channel);
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  grpc::Status status;
  const auto call = stub.PrepareUnaryCall(&context, method, request, &queue);
  call->StartCall();
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  return status;
}

std::string EmptyItems(size_t bytes) {
  std::string out;
  while (out.size() < bytes) out.append("\x0a\x00", 2);  // Field 1, of no length.
  return out;
}

constexpr const char* kApply = "/kasane.v1.ControllerService/Apply";

TEST_F(ApiTest, EmptyItemsCostNothingBeforeTheyAreRefused) {
  const std::string small = EmptyItems(3 << 20);
  const std::string large = EmptyItems(10 << 20);
  const std::string huge = EmptyItems(20 << 20);
  const size_t before = PeakMemory();
  const grpc::Status items = Send(channel_, kApply, small);
  EXPECT_EQ(items.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(items.error_message(), HasSubstr("would need more than 64 MiB of memory"));
  const grpc::Status bytes = Send(channel_, kApply, large);
  EXPECT_EQ(bytes.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(bytes.error_message(), HasSubstr("at most 4194304 are taken"));
  EXPECT_EQ(Send(channel_, kApply, huge).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  // The client's copies and the server's are in this one process: of the largest, some times its bytes, and no
  // more.
  EXPECT_LT(PeakMemory() - before, size_t{150} << 20);
}

TEST_F(ApiTest, TooManyItemsAreRefusedBeforeTheyAreParsed) {
  const grpc::Status status = Send(channel_, kApply, EmptyItems(2 * 10'001));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("10001 items; at most 10000 are taken"));
}

TEST_F(ApiTest, DamagedMessagesAreRefused) {
  for (const std::string& bytes :
       {std::string("\x0a\x7f"), std::string("\x0b"), std::string("\xff\xff\xff\xff\xff")}) {
    EXPECT_EQ(Send(channel_, kApply, bytes).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  }
  EXPECT_EQ(Send(channel_, "/kasane.v1.ControllerService/List", std::string(100'000, '\0')).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(ApiTest, AnswersHealthChecksAndReflection) {
  EXPECT_TRUE(Send(channel_, "/grpc.health.v1.Health/Check", "").ok());
  // ServerReflectionRequest { list_services: "" }; a stream that is closed behind one request answers it.
  EXPECT_NE(
      Send(channel_, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", "\x3a").error_code(),
      grpc::StatusCode::UNIMPLEMENTED);
}

}  // namespace
}  // namespace kasane::controller
