#include "ctl/clients.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/status.h"
#include "kasane/v1/agent.grpc.pb.h"
#include "kasane/v1/controller.grpc.pb.h"

namespace kasane::ctl {
namespace {

using ::testing::HasSubstr;

TEST(ControllerTargetTest, LoopbackAndWithLeaveOthers) {
  const auto target = [](const char* address, bool insecure) {
    const auto result = ControllerTarget(address, insecure);
    return result.ok() ? *result : Message(result.status());
  };
  EXPECT_EQ(target("127.0.0.1:6650", false), "ipv4:127.0.0.1:6650");
  EXPECT_EQ(target("127.9.9.9:1", false), "ipv4:127.9.9.9:1");
  EXPECT_EQ(target("[::1]:6650", false), "ipv6:[::1]:6650");
  EXPECT_EQ(target("localhost:6650", false), "dns:///localhost:6650");
  EXPECT_EQ(target("192.0.2.1:6650", true), "ipv4:192.0.2.1:6650");
  EXPECT_EQ(target("[2001:db8::1]:6650", true), "ipv6:[2001:db8::1]:6650");
  EXPECT_EQ(target("controller.example:6650", true), "dns:///controller.example:6650");
  EXPECT_THAT(target("192.0.2.1:6650", false), HasSubstr("neither be encrypted nor authenticated"));
  EXPECT_THAT(target("localhost.example:6650", false), HasSubstr("--insecure allows it"));
  EXPECT_THAT(target("0.0.0.0:6650", false), HasSubstr("--insecure"));
  EXPECT_THAT(target("127.0.0.1", false), HasSubstr("is not HOST:PORT"));
  EXPECT_THAT(target("127.0.0.1:0", false), HasSubstr("has no port"));
  EXPECT_THAT(target("127.0.0.1:65536", false), HasSubstr("has no port"));
  EXPECT_THAT(target("127.0.0.1:x", false), HasSubstr("has no port"));
  EXPECT_THAT(target("2001:db8::z:6650", true), HasSubstr("write an IPv6 address in brackets"));
}

class ClientsTest : public ::testing::Test {
 protected:
  ClientsTest() : directory_(::testing::TempDir() + "/ctl_clients_XXXXXX") {
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
    globals_.agent = directory_ + "/agent.sock";
    globals_.timeout_seconds = 5;
  }
  ~ClientsTest() override { std::filesystem::remove_all(directory_); }

  std::string directory_;
  Globals globals_;
};

TEST_F(ClientsTest, NoSocket) {
  const auto reply = AgentClient(globals_).Status();
  EXPECT_EQ(
      Message(reply.status()),
      "no agent at " + globals_.agent + ": there is no such socket; is kasaned running? --agent names another");
}

TEST_F(ClientsTest, ASocketThatNobodyListensOn) {
  std::filesystem::path path(globals_.agent);
  ASSERT_EQ(mknod(path.c_str(), S_IFSOCK | 0600, 0), 0);
  EXPECT_THAT(DiagnoseSocket(globals_.agent), HasSubstr("nobody listens on the socket; start kasaned again"));
}

TEST_F(ClientsTest, APathThatNoSocketCanHave) {
  EXPECT_THAT(DiagnoseSocket(std::string(200, 'x')), HasSubstr("is too long"));
}

TEST_F(ClientsTest, NoController) {
  globals_.controller = "127.0.0.1:1";
  auto client = ControllerClient::Dial(globals_);
  ASSERT_TRUE(client.ok());
  EXPECT_EQ(Message(client->Status().status()),
            "no controller at 127.0.0.1:1: Connection refused; is kasane-controller running there? "
            "--controller names another");
}

class FakeAgent : public v1::AgentService::Service {
 public:
  grpc::Status AgentStatus(grpc::ServerContext*, const v1::AgentStatusRequest*,
                           v1::AgentStatusResponse* reply) override {
    reply->set_host_id("hv1");
    return grpc::Status::OK;
  }
  grpc::Status ListFlows(grpc::ServerContext*, const v1::ListFlowsRequest* request,
                         v1::ListFlowsResponse*) override {
    return {grpc::StatusCode::NOT_FOUND, "no owner '" + request->owner() + "'"};
  }
};

TEST_F(ClientsTest, AnswersAndErrorsOfAnAgent) {
  FakeAgent agent;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + globals_.agent, grpc::InsecureServerCredentials());
  builder.RegisterService(&agent);
  const auto server = builder.BuildAndStart();
  ASSERT_NE(server, nullptr);
  AgentClient client(globals_);
  EXPECT_EQ(client.Status().value().host_id(), "hv1");
  v1::ListFlowsRequest request;
  request.set_owner("x");
  EXPECT_EQ(Message(client.ListFlows(request).status()), "agent: no owner 'x'");
  EXPECT_THAT(Message(client.ListPorts().status()),
              HasSubstr("does not offer this call; is it of this version?"));
}

class FakeController : public v1::ControllerService::Service {
 public:
  grpc::Status Watch(grpc::ServerContext*, const v1::WatchRequest*,
                     grpc::ServerWriter<v1::WatchResponse>* writer) override {
    v1::WatchResponse event;
    event.mutable_synced()->set_counter(7);
    writer->Write(event);
    return grpc::Status::OK;
  }
  grpc::Status Delete(grpc::ServerContext* context, const v1::DeleteRequest*, v1::DeleteResponse*) override {
    while (!context->IsCancelled()) usleep(1000);
    return grpc::Status::CANCELLED;
  }
};

TEST_F(ClientsTest, AControllersWatchAndADeadline) {
  FakeController controller;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&controller);
  const auto server = builder.BuildAndStart();
  ASSERT_NE(server, nullptr);
  globals_.controller = fmt::format("127.0.0.1:{}", port);
  globals_.timeout_seconds = 0.2;
  auto client = ControllerClient::Dial(globals_);
  ASSERT_TRUE(client.ok());
  uint64_t synced = 0;
  const auto status =
      client->Watch({}, [&](const v1::WatchResponse& event) { synced = event.synced().counter(); });
  EXPECT_EQ(synced, 7U);
  EXPECT_THAT(Message(status), HasSubstr("ended the watch"));
  EXPECT_THAT(Message(client->Delete({}).status()), HasSubstr("did not answer within 0.2 s"));
}

}  // namespace
}  // namespace kasane::ctl
