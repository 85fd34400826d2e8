#include "controller/store/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/file_lock.h"
#include "base/sqlite.h"
#include "base/status.h"
#include "controller/store/random_id.h"
#include "kasane/v1/resources.pb.h"
#include "model/decode.h"

namespace kasane::controller {
namespace {

// In version 1 an absent boolean meant false, which now means its default.
constexpr int64_t kSchemaVersion = 2;

constexpr const char* kPragmas = R"(
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA trusted_schema = OFF;
)";

constexpr const char* kSchema = R"(
  CREATE TABLE schema_version (version INTEGER NOT NULL);
  CREATE TABLE store (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    store_id TEXT NOT NULL,
    counter INTEGER NOT NULL);
  CREATE TABLE timelines (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    timeline TEXT NOT NULL UNIQUE);
  CREATE TABLE resources (
    kind INTEGER NOT NULL,
    id TEXT NOT NULL,
    timeline TEXT NOT NULL REFERENCES timelines (timeline),
    counter INTEGER NOT NULL,
    resource BLOB NOT NULL,
    PRIMARY KEY (kind, id)) WITHOUT ROWID;
  CREATE TABLE port_facts (
    port TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    active INTEGER NOT NULL) WITHOUT ROWID;
)";

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

absl::Status SystemError(const std::string& path, const char* what) {
  const absl::StatusCode code = errno == EACCES || errno == EPERM || errno == EROFS
                                    ? absl::StatusCode::kPermissionDenied
                                    : absl::StatusCode::kUnavailable;
  return Error(code, "store {}: {}: {}; choose another place with --store", path, what, std::strerror(errno));
}

absl::Status MakeDirectory(const std::string& path) {
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  if (directory.empty()) return absl::OkStatus();
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (!error) return absl::OkStatus();
  errno = error.value();
  return SystemError(path, "cannot make its directory");
}

absl::StatusOr<FileLock> Lock(const std::string& path) {
  absl::StatusOr<FileLock> lock = FileLock::Take(path + ".lock", 0600);
  if (lock.ok()) return lock;
  if (lock.status().code() == absl::StatusCode::kAlreadyExists) {
    return Error(
        absl::StatusCode::kFailedPrecondition,
        "store {} is in use by another controller ({}); stop that one, or give this one its own --store", path,
        Message(lock.status()));
  }
  return Annotate(lock.status(), "store " + path);
}

// SQLite gives its side files the mode of the database, so that it must exist before with the right one.
absl::Status CreatePrivate(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (file.get() < 0) return SystemError(path, "cannot open it");
  struct stat info = {};
  if (fstat(file.get(), &info) != 0) return SystemError(path, "cannot read its mode");
  // One that was there already may have been made or copied with a wider mode.
  if (!S_ISREG(info.st_mode) || (info.st_mode & 0077) == 0) return absl::OkStatus();
  if (fchmod(file.get(), 0600) != 0) return SystemError(path, "cannot make it private (mode 0600)");
  for (const char* suffix : {"-wal", "-shm"}) {  // Left by a crash: they hold its contents too.
    if (chmod((path + suffix).c_str(), 0600) != 0 && errno != ENOENT) {
      return SystemError(path, "cannot make its side files private (mode 0600)");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> HasSchema(sqlite::Connection& connection) {
  ASSIGN_OR_RETURN(sqlite::Statement query,
                   connection.Prepare("SELECT 1 FROM sqlite_master WHERE name = 'schema_version'"));
  return query.Step();
}

absl::Status CreateSchema(sqlite::Connection& connection) {
  RETURN_IF_ERROR(connection.Execute(kSchema));
  ASSIGN_OR_RETURN(sqlite::Statement version, connection.Prepare("INSERT INTO schema_version VALUES (?)"));
  version.Bind(1, kSchemaVersion);
  RETURN_IF_ERROR(version.Run());
  ASSIGN_OR_RETURN(sqlite::Statement store, connection.Prepare("INSERT INTO store VALUES (1, ?, 0)"));
  store.Bind(1, RandomId());
  return store.Run();
}

absl::Status CheckSchema(sqlite::Connection& connection) {
  ASSIGN_OR_RETURN(sqlite::Statement query, connection.Prepare("SELECT version FROM schema_version"));
  ASSIGN_OR_RETURN(const bool found, query.Step());
  const int64_t version = found ? query.Integer(0) : 0;
  if (version == kSchemaVersion) return absl::OkStatus();
  return Error(absl::StatusCode::kFailedPrecondition,
               "its schema has version {}, this controller knows version {}; use the controller that wrote it",
               version, kSchemaVersion);
}

absl::Status AppendTimeline(sqlite::Connection& connection) {
  ASSIGN_OR_RETURN(sqlite::Statement append, connection.Prepare("INSERT INTO timelines (timeline) VALUES (?)"));
  append.Bind(1, RandomId());
  return append.Run();
}

absl::Status Prepare(sqlite::Connection& connection) {
  RETURN_IF_ERROR(connection.Execute(kPragmas));
  ASSIGN_OR_RETURN(sqlite::Transaction transaction, sqlite::Transaction::Begin(connection));
  ASSIGN_OR_RETURN(const bool has_schema, HasSchema(connection));
  RETURN_IF_ERROR(has_schema ? CheckSchema(connection) : CreateSchema(connection));
  RETURN_IF_ERROR(AppendTimeline(connection));
  return transaction.Commit();
}

absl::StatusOr<std::shared_ptr<const v1::Resource>> ReadRow(const sqlite::Statement& row) {
  const std::string name = fmt::format("resources row (kind {}, id \"{}\")", row.Integer(0), row.Text(1));
  const auto damaged = [&](std::string_view why) {
    return Error(absl::StatusCode::kDataLoss, "{} is damaged: {}; restore the database from a backup", name,
                 why);
  };
  auto resource = std::make_shared<v1::Resource>();
  if (!resource->ParseFromString(row.Text(4))) return damaged("its blob is no resource");
  const std::optional<model::ResourceKey> key = model::DecodeKey(*resource);
  if (!key) return damaged("its blob names no resource");
  if (static_cast<int64_t>(key->kind) != row.Integer(0) || key->id != row.Text(1)) {
    return damaged(fmt::format("its blob is {}", ToString(*key)));
  }
  resource->mutable_revision()->set_timeline(row.Text(2));
  resource->mutable_revision()->set_counter(static_cast<uint64_t>(row.Integer(3)));
  return std::shared_ptr<const v1::Resource>(std::move(resource));
}

}  // namespace

class Store::Impl {
 public:
  Impl(std::string path, FileLock lock, sqlite::Connection connection)
      : path_(std::move(path)), lock_(std::move(lock)), connection_(std::move(connection)) {}

  absl::Status Initialize() {
    RETURN_IF_ERROR(Prepare(connection_));
    return ReadIdentity();
  }

  absl::Status ReadIdentity() {
    ASSIGN_OR_RETURN(sqlite::Statement store, connection_.Prepare("SELECT store_id FROM store"));
    ASSIGN_OR_RETURN(const bool found, store.Step());
    if (!found)
      return Error(absl::StatusCode::kDataLoss, "its table \"store\" is empty; restore it from a backup");
    store_id_ = store.Text(0);
    ASSIGN_OR_RETURN(sqlite::Statement rows,
                     connection_.Prepare("SELECT timeline FROM timelines ORDER BY position"));
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, rows.Step());
      if (!more) return absl::OkStatus();
      timelines_.push_back(rows.Text(0));
    }
  }

  absl::StatusOr<StoreContents> Load() {
    StoreContents contents;
    ASSIGN_OR_RETURN(sqlite::Statement store, connection_.Prepare("SELECT counter FROM store"));
    RETURN_IF_ERROR(store.Step().status());
    contents.counter = static_cast<uint64_t>(store.Integer(0));
    RETURN_IF_ERROR(LoadResources(contents));
    RETURN_IF_ERROR(LoadPortFacts(contents));
    return contents;
  }

  absl::Status Commit(uint64_t counter, const std::vector<StoreChange>& changes) {
    ASSIGN_OR_RETURN(sqlite::Transaction transaction, sqlite::Transaction::Begin(connection_));
    ASSIGN_OR_RETURN(sqlite::Statement put,
                     connection_.Prepare("INSERT OR REPLACE INTO resources VALUES (?, ?, ?, ?, ?)"));
    ASSIGN_OR_RETURN(sqlite::Statement remove,
                     connection_.Prepare("DELETE FROM resources WHERE kind = ? AND id = ?"));
    ASSIGN_OR_RETURN(sqlite::Statement forget, connection_.Prepare("DELETE FROM port_facts WHERE port = ?"));
    for (const StoreChange& change : changes) {
      RETURN_IF_ERROR(change.resource != nullptr ? Put(put, change) : Remove(remove, forget, change.key));
    }
    ASSIGN_OR_RETURN(sqlite::Statement count, connection_.Prepare("UPDATE store SET counter = ?"));
    count.Bind(1, static_cast<int64_t>(counter));
    RETURN_IF_ERROR(count.Run());
    return transaction.Commit();
  }

  absl::Status WritePortFacts(const std::vector<PortFact>& facts) {
    ASSIGN_OR_RETURN(sqlite::Transaction transaction, sqlite::Transaction::Begin(connection_));
    ASSIGN_OR_RETURN(sqlite::Statement put,
                     connection_.Prepare("INSERT OR REPLACE INTO port_facts SELECT ?, ?, ? WHERE EXISTS "
                                         "(SELECT 1 FROM resources WHERE kind = ? AND id = ?)"));
    ASSIGN_OR_RETURN(sqlite::Statement forget, connection_.Prepare("DELETE FROM port_facts WHERE port = ?"));
    for (const PortFact& fact : facts) {
      if (fact.host.empty()) {
        forget.Bind(1, fact.port.str());
        RETURN_IF_ERROR(forget.Run());
        continue;
      }
      put.Bind(1, fact.port.str());
      put.Bind(2, fact.host.str());
      put.Bind(3, int64_t{fact.active});
      put.Bind(4, static_cast<int64_t>(model::Kind::kPort));
      put.Bind(5, fact.port.str());
      RETURN_IF_ERROR(put.Run());
    }
    return transaction.Commit();
  }

  // `status` with the database's name put before it.
  absl::Status Named(const absl::Status& status) const {
    return Annotate(status, fmt::format("store {}", path_));
  }

  std::mutex& mutex() { return mutex_; }
  const std::string& store_id() const { return store_id_; }
  const std::vector<std::string>& timelines() const { return timelines_; }

 private:
  static absl::Status Put(sqlite::Statement& put, const StoreChange& change) {
    put.Bind(1, static_cast<int64_t>(change.key.kind));
    put.Bind(2, change.key.id);
    put.Bind(3, change.resource->revision().timeline());
    put.Bind(4, static_cast<int64_t>(change.resource->revision().counter()));
    put.BindBlob(5, change.resource->SerializeAsString());
    return put.Run();
  }

  static absl::Status Remove(sqlite::Statement& remove, sqlite::Statement& forget,
                             const model::ResourceKey& key) {
    remove.Bind(1, static_cast<int64_t>(key.kind));
    remove.Bind(2, key.id);
    RETURN_IF_ERROR(remove.Run());
    if (key.kind != model::Kind::kPort) return absl::OkStatus();
    forget.Bind(1, key.id);
    return forget.Run();
  }

  absl::Status LoadResources(StoreContents& contents) {
    ASSIGN_OR_RETURN(sqlite::Statement rows,
                     connection_.Prepare("SELECT kind, id, timeline, counter, resource FROM resources"));
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, rows.Step());
      if (!more) return absl::OkStatus();
      ASSIGN_OR_RETURN(auto resource, ReadRow(rows));
      contents.resources.push_back(std::move(resource));
    }
  }

  absl::Status LoadPortFacts(StoreContents& contents) {
    ASSIGN_OR_RETURN(sqlite::Statement rows, connection_.Prepare("SELECT port, host, active FROM port_facts"));
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, rows.Step());
      if (!more) return absl::OkStatus();
      contents.port_facts.push_back({PortId(rows.Text(0)), HostId(rows.Text(1)), rows.Integer(2) != 0});
    }
  }

  const std::string path_;
  const FileLock lock_;  // Before the connection: released after it is closed.
  std::mutex mutex_;
  sqlite::Connection connection_;
  std::string store_id_;
  std::vector<std::string> timelines_;
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::~Store() = default;

absl::StatusOr<std::unique_ptr<Store>> Store::Open(const std::string& path) {
  RETURN_IF_ERROR(MakeDirectory(path));
  ASSIGN_OR_RETURN(FileLock lock, Lock(path));
  RETURN_IF_ERROR(CreatePrivate(path));
  absl::StatusOr<sqlite::Connection> connection = sqlite::Connection::Open(path);
  if (!connection.ok()) return Annotate(connection.status(), fmt::format("store {}", path));
  auto impl = std::make_unique<Impl>(path, std::move(lock), *std::move(connection));
  RETURN_IF_ERROR(impl->Named(impl->Initialize()));
  return std::unique_ptr<Store>(new Store(std::move(impl)));
}

const std::string& Store::store_id() const { return impl_->store_id(); }
const std::vector<std::string>& Store::timelines() const { return impl_->timelines(); }

absl::StatusOr<StoreContents> Store::Load() {
  const std::lock_guard lock(impl_->mutex());
  absl::StatusOr<StoreContents> contents = impl_->Load();
  if (!contents.ok()) return impl_->Named(contents.status());
  return contents;
}

absl::Status Store::Commit(uint64_t counter, const std::vector<StoreChange>& changes) {
  const std::lock_guard lock(impl_->mutex());
  return impl_->Named(impl_->Commit(counter, changes));
}

absl::Status Store::WritePortFacts(const std::vector<PortFact>& facts) {
  const std::lock_guard lock(impl_->mutex());
  return impl_->Named(impl_->WritePortFacts(facts));
}

}  // namespace kasane::controller
