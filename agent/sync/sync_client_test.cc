#include "agent/sync/sync_client.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

#include "kasane/v1/state.grpc.pb.h"

namespace kasane::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kPatience = std::chrono::seconds(20);

// A queue that a test waits on, with a deadline.
template <typename T>
class Inbox {
 public:
  void Push(T item) {
    {
      const std::lock_guard lock(mutex_);
      items_.push_back(std::move(item));
    }
    ready_.notify_all();
  }
  std::optional<T> Take() {
    std::unique_lock lock(mutex_);
    if (!ready_.wait_for(lock, kPatience, [this] { return !items_.empty(); })) return std::nullopt;
    T item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<T> items_;
};

using ServerStream = grpc::ServerReaderWriter<v1::StreamResponse, v1::StreamRequest>;
// What the controller does after a Hello.
using Script = std::function<grpc::Status(ServerStream&)>;

class FakeController final : public v1::NetworkStateService::Service {
 public:
  FakeController(const std::string& address, Script script) : script_(std::move(script)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~FakeController() override { server_->Shutdown(std::chrono::system_clock::now()); }

  Inbox<v1::Hello> hellos;

 private:
  grpc::Status Stream(grpc::ServerContext* /*context*/, ServerStream* stream) override {
    v1::StreamRequest first;
    if (!stream->Read(&first)) return grpc::Status::OK;
    hellos.Push(first.hello());
    return script_(*stream);
  }

  const Script script_;
  std::unique_ptr<grpc::Server> server_;
};

void SendWelcome(ServerStream& stream) {
  v1::StreamResponse message;
  message.mutable_welcome()->set_store_id("store");
  message.mutable_welcome()->add_timelines("t1");
  stream.Write(message);
}

void SendBatch(ServerStream& stream, uint64_t counter) {
  v1::StreamResponse message;
  message.mutable_batch()->mutable_revision()->set_counter(counter);
  stream.Write(message);
}

void SendSyncComplete(ServerStream& stream, uint64_t counter) {
  v1::StreamResponse message;
  message.mutable_sync_complete()->mutable_revision()->set_timeline("t1");
  message.mutable_sync_complete()->mutable_revision()->set_counter(counter);
  stream.Write(message);
}

// Until the agent or the server ends the stream.
grpc::Status ReadToTheEnd(ServerStream& stream) {
  v1::StreamRequest message;
  while (stream.Read(&message)) {
  }
  return grpc::Status::OK;
}

class SyncClientTest : public ::testing::Test {
 protected:
  ~SyncClientTest() override { unlink(path_.c_str()); }

  void StartController(Script script) {
    controller_ = std::make_unique<FakeController>("unix:" + path_, std::move(script));
  }
  void StartClient(milliseconds welcome_timeout = kPatience) {
    SyncOptions options;
    options.target = "unix:" + path_;
    options.address = "127.0.0.1:6650";
    options.host_id = "hv1";
    options.tunnel_addresses = {"192.0.2.1"};
    options.capabilities = {"datapath:ovs"};
    options.agent_version = "1.2.3";
    options.backoff = {milliseconds(1), milliseconds(20)};
    options.welcome_timeout = welcome_timeout;
    client_ =
        std::make_unique<SyncClient>(options, [this](SyncEvent event) { events_.Push(std::move(event)); });
  }

  // The next event, which must be a T.
  template <typename T>
  T Next() {
    std::optional<SyncEvent> event = events_.Take();
    if (event && std::holds_alternative<T>(*event)) return std::get<T>(*std::move(event));
    ADD_FAILURE() << (event ? "another event than expected" : "no event in time");
    return T{};
  }
  // Says an empty Hello on the next stream that opens; streams that fail before are passed over.
  uint64_t Open() {
    for (;;) {
      std::optional<SyncEvent> event = events_.Take();
      if (!event) {
        ADD_FAILURE() << "no stream in time";
        return 0;
      }
      if (const auto* opened = std::get_if<StreamOpened>(&*event)) {
        client_->SayHello(opened->stream, {});
        return opened->stream;
      }
    }
  }

  const std::string path_ = "/tmp/kasane_sync_test_" + std::to_string(getpid()) + ".sock";
  Inbox<SyncEvent> events_;
  std::unique_ptr<FakeController> controller_;
  std::unique_ptr<SyncClient> client_;
};

TEST_F(SyncClientTest, HelloWelcomeBatchesAndReports) {
  Inbox<v1::Report> reports;
  StartController([&reports](ServerStream& stream) {
    SendWelcome(stream);
    SendBatch(stream, 5);
    SendSyncComplete(stream, 6);
    v1::StreamRequest message;
    while (stream.Read(&message)) reports.Push(message.report());
    return grpc::Status::OK;
  });
  StartClient();
  const uint64_t stream = Next<StreamOpened>().stream;
  EXPECT_EQ(stream, 1);
  client_->SayHello(stream, {{{model::Kind::kPort, "p1"}, {"t1", 4}}});

  const std::optional<v1::Hello> hello = controller_->hellos.Take();
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->host_id(), "hv1");
  EXPECT_EQ(hello->protocol_version(), model::kSpokenProtocols.oldest);
  EXPECT_EQ(hello->max_protocol_version(), model::kSpokenProtocols.newest);
  EXPECT_THAT(hello->tunnel_addresses(), ElementsAre("192.0.2.1"));
  EXPECT_THAT(hello->capabilities(), ElementsAre("datapath:ovs", "batch:parts"));
  EXPECT_EQ(hello->agent_version(), "1.2.3");
  EXPECT_EQ(hello->instance_id().size(), 16);
  ASSERT_EQ(hello->held_size(), 1);
  EXPECT_EQ(hello->held(0).key().id(), "p1");
  EXPECT_EQ(hello->held(0).revision().counter(), 4);

  const auto welcome = Next<Welcomed>();
  EXPECT_EQ(welcome.store_id, "store");
  EXPECT_THAT(welcome.timelines, ElementsAre("t1"));
  const auto batch = Next<BatchArrived>();
  ASSERT_NE(batch.batch, nullptr);
  EXPECT_EQ(batch.batch->revision().counter(), 5);
  EXPECT_EQ(Next<SyncCompleted>().revision, (model::Revision{"t1", 6}));

  client_->ReportVerdicts(stream, {{{model::Kind::kPort, "p1"}, {"t1", 5}, {{"port.mac_address", "is bad"}}}});
  const std::optional<v1::Report> rejected = reports.Take();
  ASSERT_TRUE(rejected && rejected->verdicts_size() == 1);
  EXPECT_EQ(rejected->verdicts(0).revision().counter(), 5);
  EXPECT_EQ(rejected->verdicts(0).faults(0).path(), "port.mac_address");
  EXPECT_EQ(rejected->verdicts(0).faults(0).key().id(), "p1");
  client_->ReportApplied(stream, {{"t1", 6}, {PortId("p1")}, {PortId("p2")}});
  const std::optional<v1::Report> applied = reports.Take();
  ASSERT_TRUE(applied && applied->has_applied());
  EXPECT_EQ(applied->applied().revision().counter(), 6);
  EXPECT_THAT(applied->applied().active_ports(), ElementsAre("p1"));
  EXPECT_THAT(applied->applied().down_ports(), ElementsAre("p2"));
}

TEST_F(SyncClientTest, DialsUntilTheControllerIsThereAndAgainWhenItRestarts) {
  StartClient();
  EXPECT_THAT(Next<StreamClosed>().problem.message, HasSubstr("not reachable"));
  const Script script = [](ServerStream& stream) {
    SendWelcome(stream);
    return ReadToTheEnd(stream);
  };
  StartController(script);
  const uint64_t first = Open();
  EXPECT_EQ(Next<Welcomed>().stream, first);
  const std::optional<v1::Hello> before = controller_->hellos.Take();

  controller_.reset();
  const auto closed = Next<StreamClosed>();
  EXPECT_EQ(closed.stream, first);
  EXPECT_EQ(closed.problem.subject, "controller 127.0.0.1:6650");
  StartController(script);
  const uint64_t second = Open();
  EXPECT_GT(second, first);
  EXPECT_EQ(Next<Welcomed>().stream, second);
  const std::optional<v1::Hello> after = controller_->hellos.Take();
  ASSERT_TRUE(before && after);
  EXPECT_EQ(before->instance_id(), after->instance_id()) << "a reconnect is no twin";
}

TEST_F(SyncClientTest, SecondAgentForOneHostIsToldAndTriesAgain) {
  StartController([](ServerStream& /*stream*/) {
    return grpc::Status(grpc::StatusCode::ALREADY_EXISTS, "instance 17 since 12:00");
  });
  StartClient();
  const uint64_t first = Open();
  const auto closed = Next<StreamClosed>();
  EXPECT_EQ(closed.stream, first);
  EXPECT_THAT(closed.problem.message, HasSubstr("refuses this agent as host hv1"));
  EXPECT_THAT(closed.problem.message, HasSubstr("instance 17 since 12:00"));
  EXPECT_GT(Open(), first) << "time can heal it";
}

TEST_F(SyncClientTest, PinnedAddressMismatchIsPassedOn) {
  StartController([](ServerStream& /*stream*/) {
    return grpc::Status(grpc::StatusCode::FAILED_PRECONDITION,
                        "tunnel address 192.0.2.1 is pinned to 192.0.2.9");
  });
  StartClient();
  Open();
  EXPECT_THAT(Next<StreamClosed>().problem.message, HasSubstr("pinned to 192.0.2.9"));
}

TEST_F(SyncClientTest, WhatIsNoControllerIsGivenUp) {
  StartController([](ServerStream& stream) {
    SendBatch(stream, 1);
    return ReadToTheEnd(stream);
  });
  StartClient();
  Open();
  EXPECT_THAT(Next<StreamClosed>().problem.message, HasSubstr("no Welcome"));
}

TEST_F(SyncClientTest, AControllerThatNeverAnswersIsGivenUp) {
  StartController([](ServerStream& stream) { return ReadToTheEnd(stream); });
  StartClient(milliseconds(50));
  Open();
  EXPECT_THAT(Next<StreamClosed>().problem.message, HasSubstr("no answer to Hello within 50 ms"));
}

TEST_F(SyncClientTest, RefuseEndsTheStreamForTheReasonGiven) {
  StartController([](ServerStream& stream) {
    SendWelcome(stream);
    return ReadToTheEnd(stream);
  });
  StartClient();
  const uint64_t stream = Open();
  Next<Welcomed>();
  client_->Refuse(stream + 1, "another stream's");
  client_->Refuse(stream, "wrong database");
  EXPECT_EQ(Next<StreamClosed>().problem.message, "wrong database");
  EXPECT_GT(Open(), stream);
}

TEST_F(SyncClientTest, ReadsNoFurtherThanTheLoopFollows) {
  constexpr int kSent = 200;
  StartController([](ServerStream& stream) {
    SendWelcome(stream);
    for (int i = 1; i <= kSent; ++i) SendBatch(stream, static_cast<uint64_t>(i));
    return ReadToTheEnd(stream);
  });
  StartClient();
  const uint64_t first = Open();
  Next<Welcomed>();
  for (int i = 0; i < 64; ++i) Next<BatchArrived>();
  // The 65th would come before the end of the stream.
  client_->Refuse(first, "enough");
  EXPECT_EQ(Next<StreamClosed>().problem.message, "enough");

  const uint64_t second = Open();
  Next<Welcomed>();
  for (int i = 1; i <= kSent; ++i) {
    const auto batch = Next<BatchArrived>();
    ASSERT_NE(batch.batch, nullptr);
    EXPECT_EQ(batch.batch->revision().counter(), static_cast<uint64_t>(i));
    client_->BatchHandled(second);
  }
}

TEST_F(SyncClientTest, StopsWhileDialling) {
  StartClient();
  client_.reset();
}

TEST_F(SyncClientTest, StopsWhileHoldingAStream) {
  StartController([](ServerStream& stream) {
    SendWelcome(stream);
    return ReadToTheEnd(stream);
  });
  StartClient();
  Open();
  Next<Welcomed>();
  client_.reset();
}

}  // namespace
}  // namespace kasane::agent
