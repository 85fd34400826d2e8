#include "agent/admin/admin_server.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "agent/reconcile/fake_datapath.h"
#include "base/status.h"
#include "inspect/test_snapshot.h"
#include "kasane/v1/agent.grpc.pb.h"

namespace kasane::agent {
namespace {

using ::testing::HasSubstr;

class AdminServerTest : public ::testing::Test {
 protected:
  AdminServerTest() {
    std::string name = "/tmp/kasane_admin_server_XXXXXX";
    directory_ = mkdtemp(name.data());
    path_ = directory_ + "/agent.sock";
  }
  ~AdminServerTest() override {
    server_.reset();
    std::filesystem::remove_all(directory_);
  }

  absl::Status Start() {
    std::unique_ptr<AdminSocket> socket;
    ASSIGN_OR_RETURN(socket, AdminSocket::Claim(path_));
    ASSIGN_OR_RETURN(server_, AdminServer::Start(
                                  std::move(socket), {"h1", "1.0", "127.0.0.1:6650", {}},
                                  [this] {
                                    inspect::AgentSnapshot snapshot = inspect::TestSnapshot();
                                    snapshot.foreign_store = refused_;
                                    return std::make_shared<const inspect::AgentSnapshot>(std::move(snapshot));
                                  },
                                  [] { return std::string("fake"); }, [this] { ++accepted_; }, datapath_));
    stub_ = v1::AgentService::NewStub(grpc::CreateChannel("unix:" + path_, grpc::InsecureChannelCredentials()));
    return absl::OkStatus();
  }

  template <typename Request, typename Reply>
  grpc::Status Call(grpc::Status (v1::AgentService::Stub::*method)(grpc::ClientContext*, const Request&,
                                                                   Reply*),
                    const Request& request, Reply& reply) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    return (stub_.get()->*method)(&context, request, &reply);
  }

  std::atomic<bool> refused_ = false;
  std::atomic<int> accepted_ = 0;
  std::string directory_;
  std::string path_;
  FakeDatapath datapath_;
  std::unique_ptr<AdminServer> server_;
  std::unique_ptr<v1::AgentService::Stub> stub_;
};

TEST_F(AdminServerTest, ServesOnASocketOfMode0660AndRemovesIt) {
  ASSERT_TRUE(Start().ok());
  struct stat info {};
  ASSERT_EQ(lstat(path_.c_str(), &info), 0);
  EXPECT_TRUE(S_ISSOCK(info.st_mode));
  EXPECT_EQ(info.st_mode & 0777, 0660);

  v1::AgentStatusResponse status;
  ASSERT_TRUE(Call(&v1::AgentService::Stub::AgentStatus, v1::AgentStatusRequest(), status).ok());
  EXPECT_EQ(status.host_id(), "h1");
  EXPECT_EQ(status.datapath(), "fake");
  v1::ListPortsResponse ports;
  ASSERT_TRUE(Call(&v1::AgentService::Stub::ListPorts, v1::ListPortsRequest(), ports).ok());
  EXPECT_EQ(ports.ports_size(), 1);

  server_.reset();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(AdminServerTest, FlowsComeFromTheDatapathAndErrorsKeepTheirCode) {
  vswitch::InstalledEntry entry;
  entry.owner = {vswitch::OwnerKind::kPort, "port-web"};
  entry.packets = 17;
  datapath_.SetDump({entry});
  ASSERT_TRUE(Start().ok());
  v1::ListFlowsRequest request;
  request.set_owner("web");
  v1::ListFlowsResponse reply;
  ASSERT_TRUE(Call(&v1::AgentService::Stub::ListFlows, request, reply).ok());
  ASSERT_EQ(reply.flows_size(), 1);
  EXPECT_EQ(reply.flows(0).packets(), 17);

  request.set_owner("nothing");
  const grpc::Status status = Call(&v1::AgentService::Stub::ListFlows, request, reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("\"nothing\""));
}

TEST_F(AdminServerTest, TablesAreOfTheSnapshotAndErrorsKeepTheirCode) {
  ASSERT_TRUE(Start().ok());
  v1::ListTablesRequest request;
  request.set_network("blue");
  request.set_family("replication");
  v1::ListTablesResponse reply;
  ASSERT_TRUE(Call(&v1::AgentService::Stub::ListTables, request, reply).ok());
  ASSERT_EQ(reply.entries_size(), 1);
  EXPECT_THAT(reply.entries(0).claimants(0).value(), HasSubstr("port port-web, host h2 192.0.2.2"));

  request.set_network("bleu");
  const grpc::Status status = Call(&v1::AgentService::Stub::ListTables, request, reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("did you mean blue?"));
}

TEST_F(AdminServerTest, WhereTheSwitchDiffersIsTold) {
  vswitch::Discrepancy extra;
  extra.kind = vswitch::Discrepancy::Kind::kExtra;
  extra.entry.stage = "l2";
  datapath_.SetDiscrepancies({extra});
  ASSERT_TRUE(Start().ok());
  v1::CompareFlowsResponse reply;
  ASSERT_TRUE(Call(&v1::AgentService::Stub::CompareFlows, v1::CompareFlowsRequest(), reply).ok());
  ASSERT_EQ(reply.differences_size(), 1);
  EXPECT_EQ(reply.differences(0).kind(), "extra");
  EXPECT_EQ(reply.differences(0).flow().stage(), "l2");
}

TEST_F(AdminServerTest, SecondServerOnThePathIsRefusedWhileTheFirstLives) {
  ASSERT_TRUE(Start().ok());
  EXPECT_THAT(Message(AdminSocket::Claim(path_).status()), HasSubstr("in use by another kasaned (pid "));
  server_.reset();
  EXPECT_TRUE(Start().ok());
}

TEST_F(AdminServerTest, AStoreIsAcceptedOnlyAfterItWasRefused) {
  ASSERT_TRUE(Start().ok());
  v1::AcceptStoreResponse reply;
  const grpc::Status status = Call(&v1::AgentService::Stub::AcceptStore, v1::AcceptStoreRequest(), reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("there is nothing to accept"));
  EXPECT_EQ(accepted_, 0);
  refused_ = true;
  EXPECT_TRUE(Call(&v1::AgentService::Stub::AcceptStore, v1::AcceptStoreRequest(), reply).ok());
  EXPECT_EQ(accepted_, 1);
}

}  // namespace
}  // namespace kasane::agent
