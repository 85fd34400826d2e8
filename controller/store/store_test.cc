#include "controller/store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/sqlite.h"
#include "controller/test_support.h"
#include "kasane/v1/resources.pb.h"

namespace kasane::controller {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

std::unique_ptr<Store> Open(const std::string& path) {
  auto store = Store::Open(path);
  EXPECT_TRUE(store.ok()) << Message(store.status());
  return store.ok() ? *std::move(store) : nullptr;
}

StoreContents Load(Store& store) {
  auto contents = store.Load();
  EXPECT_TRUE(contents.ok()) << Message(contents.status());
  return contents.ok() ? *std::move(contents) : StoreContents();
}

StoreChange PortChange(const Store& store, const std::string& id, uint64_t counter) {
  auto resource = std::make_shared<v1::Resource>();
  resource->mutable_revision()->set_timeline(store.timelines().back());
  resource->mutable_revision()->set_counter(counter);
  resource->mutable_port()->set_id(id);
  return {{model::Kind::kPort, id}, resource};
}

StoreChange Removal(const std::string& id) { return {{model::Kind::kPort, id}, nullptr}; }

std::vector<std::string> Texts(const StoreContents& contents) {
  std::vector<std::string> texts;
  for (const auto& resource : contents.resources) {
    texts.push_back(resource->port().id() + "@" + std::to_string(resource->revision().counter()));
  }
  return texts;
}

void Damage(const std::string& path, const std::string& sql) {
  auto connection = sqlite::Connection::Open(path);
  ASSERT_TRUE(connection.ok());
  const absl::Status status = connection->Execute(sql);
  ASSERT_TRUE(status.ok()) << Message(status);
}

TEST(StoreTest, KeepsWhatIsCommittedOverReopening) {
  const TemporaryDirectory directory;
  const std::string path = directory.File("sub/controller.db");
  std::string store_id;
  std::string first_timeline;
  {
    const auto store = Open(path);
    store_id = store->store_id();
    ASSERT_THAT(store->timelines(), SizeIs(1));
    first_timeline = store->timelines()[0];
    EXPECT_EQ(Load(*store).counter, 0U);
    ASSERT_TRUE(store->Commit(1, {PortChange(*store, "a", 1), PortChange(*store, "b", 1)}).ok());
    ASSERT_TRUE(store->Commit(2, {PortChange(*store, "b", 2), Removal("a")}).ok());
  }
  const auto store = Open(path);
  EXPECT_EQ(store->store_id(), store_id);
  ASSERT_THAT(store->timelines(), SizeIs(2));
  EXPECT_EQ(store->timelines()[0], first_timeline);
  EXPECT_NE(store->timelines()[1], first_timeline);
  const StoreContents contents = Load(*store);
  EXPECT_EQ(contents.counter, 2U);
  EXPECT_THAT(Texts(contents), ElementsAre("b@2"));
  EXPECT_EQ(contents.resources[0]->revision().timeline(), first_timeline);
}

TEST(StoreTest, TwoStoresHaveDifferentIds) {
  const TemporaryDirectory directory;
  EXPECT_NE(Open(directory.File("a.db"))->store_id(), Open(directory.File("b.db"))->store_id());
}

TEST(StoreTest, IsForItsOwnerOnly) {
  const TemporaryDirectory directory;
  const std::string path = directory.File("controller.db");
  const auto store = Open(path);
  ASSERT_TRUE(store->Commit(1, {PortChange(*store, "a", 1)}).ok());
  for (const char* suffix : {"", "-wal"}) {
    struct stat info = {};
    ASSERT_EQ(stat((path + suffix).c_str(), &info), 0) << suffix;
    EXPECT_EQ(info.st_mode & 0777, 0600U) << suffix;
  }
}

TEST(StoreTest, BecomesPrivateIfItWasNot) {
  const TemporaryDirectory directory;
  const std::string path = directory.File("controller.db");
  Open(path).reset();
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  const auto store = Open(path);
  struct stat info = {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST(StoreTest, RefusesASecondController) {
  const TemporaryDirectory directory;
  const std::string path = directory.File("controller.db");
  auto first = Open(path);
  const auto second = Store::Open(path);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(second.status()), AllOf(HasSubstr(path), HasSubstr("in use by another controller (pid " +
                                                                         std::to_string(getpid()))));
  first.reset();
  EXPECT_TRUE(Store::Open(path).ok());
}

TEST(StoreTest, KeepsFactsAboutPortsThatExist) {
  const TemporaryDirectory directory;
  const std::string path = directory.File("controller.db");
  {
    const auto store = Open(path);
    ASSERT_TRUE(
        store->Commit(1, {PortChange(*store, "a", 1), PortChange(*store, "b", 1), PortChange(*store, "c", 1)})
            .ok());
    ASSERT_TRUE(store
                    ->WritePortFacts({{PortId("a"), HostId("hv1"), true},
                                      {PortId("b"), HostId("hv1"), true},
                                      {PortId("c"), HostId("hv1"), true},
                                      {PortId("none"), HostId("hv1"), true}})
                    .ok());
    ASSERT_TRUE(
        store->WritePortFacts({{PortId("a"), HostId("hv2"), false}, {PortId("c"), HostId(), false}}).ok());
    ASSERT_TRUE(store->Commit(2, {Removal("b")}).ok());
  }
  const auto store = Open(path);
  EXPECT_THAT(Load(*store).port_facts, UnorderedElementsAre(PortFact{PortId("a"), HostId("hv2"), false}));
}

TEST(StoreTest, NamesADamagedRow) {
  const TemporaryDirectory directory;
  const std::string path = directory.File("controller.db");
  {
    const auto store = Open(path);
    ASSERT_TRUE(store->Commit(1, {PortChange(*store, "a", 1), PortChange(*store, "b", 1)}).ok());
  }
  Damage(path, "UPDATE resources SET resource = x'ff00' WHERE id = 'b'");
  const auto contents = Open(path)->Load();
  EXPECT_EQ(contents.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Message(contents.status()), AllOf(HasSubstr(path), HasSubstr("(kind 4, id \"b\")")));
}

TEST(StoreTest, RefusesAnotherSchema) {
  const TemporaryDirectory directory;
  const std::string path = directory.File("controller.db");
  Open(path).reset();
  Damage(path, "UPDATE schema_version SET version = 7");
  EXPECT_THAT(Message(Store::Open(path).status()), HasSubstr("version 7"));
}

TEST(StoreTest, RefusesWhatIsNoDatabase) {
  const TemporaryDirectory directory;
  const std::string path = directory.File("controller.db");
  FILE* file = fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  fputs("this is not a database, and longer than the header that SQLite looks for: ................", file);
  fclose(file);
  EXPECT_EQ(Store::Open(path).status().code(), absl::StatusCode::kDataLoss);
}

TEST(StoreTest, NamesADirectoryThatCannotBeMade) {
  const TemporaryDirectory directory;
  FILE* file = fopen(directory.File("file").c_str(), "w");
  ASSERT_NE(file, nullptr);
  fclose(file);
  EXPECT_THAT(Message(Store::Open(directory.File("file/controller.db")).status()),
              AllOf(HasSubstr("cannot make its directory"), HasSubstr("--store")));
}

}  // namespace
}  // namespace kasane::controller
