#include "agent/sync/state_disk.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <set>
#include <utility>

#include "base/file_lock.h"
#include "base/loop_thread.h"
#include "base/sqlite.h"
#include "base/status.h"

namespace kasane::agent {
namespace {

constexpr int64_t kFormat = 1;  // PRAGMA user_version. 0: a new file.

constexpr const char* kPragmas = R"(
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA trusted_schema = OFF;
)";

constexpr const char* kSchema = R"(
  CREATE TABLE IF NOT EXISTS rows (
    kind INTEGER NOT NULL,
    id TEXT NOT NULL,
    value BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (kind, id)) WITHOUT ROWID;
  PRAGMA user_version = 1;
)";

// The kinds of rows: a resource's is its model::Kind.
constexpr int64_t kRevisionRow = 0;
constexpr int64_t kClaimRow = 100;

constexpr size_t kMaxNamed = 8;  // Damaged rows in a message.

using RowKey = std::pair<int64_t, std::string>;
using Rows = std::map<RowKey, std::optional<std::string>>;  // No bytes: to be deleted.

int64_t Checksum(const RowKey& key, std::string_view value) {
  const XXH64_hash_t seed = XXH3_64bits_withSeed(key.second.data(), key.second.size(), uint64_t(key.first));
  return static_cast<int64_t>(XXH3_64bits_withSeed(value.data(), value.size(), seed));
}

Rows RowsOf(DiskChanges changes) {
  Rows rows;
  for (auto& [key, bytes] : changes.resources) {
    rows.emplace(RowKey(static_cast<int64_t>(key.kind), key.id), std::move(bytes));
  }
  for (auto& [id, bytes] : changes.claims) rows.emplace(RowKey(kClaimRow, id.str()), std::move(bytes));
  if (changes.revision) rows.emplace(RowKey(kRevisionRow, ""), std::move(changes.revision));
  return rows;
}

std::string NameOf(const RowKey& key) {
  for (const model::Kind kind : model::kAllKinds) {
    if (static_cast<int64_t>(kind) == key.first) return ToString(model::ResourceKey{kind, key.second});
  }
  return key.first == kClaimRow ? "the claim on " + key.second : "the revision";
}

std::string Describe(const std::set<RowKey>& damaged) {
  std::string names;
  size_t named = 0;
  for (const RowKey& key : damaged) {
    if (++named > kMaxNamed) break;
    names += (names.empty() ? "" : ", ") + NameOf(key);
  }
  const size_t more = damaged.size() - std::min(damaged.size(), kMaxNamed);
  return fmt::format("damaged: {}{}", names, more == 0 ? "" : fmt::format(" and {} more", more));
}

absl::Status WriteRows(sqlite::Connection& connection, const Rows& rows) {
  ASSIGN_OR_RETURN(sqlite::Transaction transaction, sqlite::Transaction::Begin(connection));
  ASSIGN_OR_RETURN(
      sqlite::Statement put,
      connection.Prepare("INSERT OR REPLACE INTO rows (kind, id, value, checksum) VALUES (?, ?, ?, ?)"));
  ASSIGN_OR_RETURN(sqlite::Statement erase, connection.Prepare("DELETE FROM rows WHERE kind = ? AND id = ?"));
  for (const auto& [key, value] : rows) {
    sqlite::Statement& statement = value ? put : erase;
    statement.Bind(1, key.first);
    statement.Bind(2, std::string_view(key.second));
    if (value) {
      statement.BindBlob(3, *value);
      statement.Bind(4, Checksum(key, *value));
    }
    RETURN_IF_ERROR(statement.Run());
  }
  return transaction.Commit();
}

// Reads until the end or a fault of the file, which is returned. Rows that do not match their checksum are in
// `damaged`.
absl::Status ReadRows(sqlite::Connection& connection, Rows& rows, std::set<RowKey>& damaged) {
  ASSIGN_OR_RETURN(sqlite::Statement all, connection.Prepare("SELECT kind, id, value, checksum FROM rows"));
  while (true) {
    ASSIGN_OR_RETURN(const bool row, all.Step());
    if (!row) return absl::OkStatus();
    RowKey key(all.Integer(0), all.Text(1));
    std::string value = all.Text(2);
    if (Checksum(key, value) == all.Integer(3)) {
      rows.emplace(std::move(key), std::move(value));
    } else {
      damaged.insert(std::move(key));
    }
  }
}

absl::StatusOr<int64_t> FormatOf(sqlite::Connection& connection) {
  ASSIGN_OR_RETURN(sqlite::Statement statement, connection.Prepare("PRAGMA user_version"));
  RETURN_IF_ERROR(statement.Step().status());
  return statement.Integer(0);
}

// An open database of the present format, or why not: DATA_LOSS for a file that cannot be used, and
// FAILED_PRECONDITION for one of a newer format.
absl::StatusOr<sqlite::Connection> OpenFile(const std::string& path) {
  // SQLite has no argument for the mode; its other files take over that of this one.
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return Annotate(FromErrno("open"), path);
  close(fd);
  ASSIGN_OR_RETURN(sqlite::Connection connection, sqlite::Connection::Open(path));
  ASSIGN_OR_RETURN(const int64_t format, FormatOf(connection));
  if (format > kFormat) {
    return Error(absl::StatusCode::kFailedPrecondition, "it has format {}, and this kasaned knows {}", format,
                 kFormat);
  }
  RETURN_IF_ERROR(connection.Execute(kPragmas));
  RETURN_IF_ERROR(connection.Execute(kSchema));
  return connection;
}

void MoveAside(const std::string& path, const std::string& ending) {
  for (const char* part : {"", "-wal", "-shm"})
    std::rename((path + part).c_str(), (path + ending + part).c_str());
}

}  // namespace

class StateDisk::Impl {
 public:
  Impl(FileLock lock, std::string path, const BackoffOptions& retry)
      : lock_(std::move(lock)), path_(std::move(path)), retry_(retry) {}

  ~Impl() {
    thread_.Stop();
    WriteOnce();
  }

  absl::Status OpenAndRead() {
    absl::StatusOr<sqlite::Connection> connection = OpenFile(path_);
    if (!connection.ok()) return StartAnew(connection.status());
    connection_ = *std::move(connection);
    Rows rows;
    std::set<RowKey> damaged;
    absl::Status read = ReadRows(*connection_, rows, damaged);
    if (read.ok() && !damaged.empty()) read = Error(absl::StatusCode::kDataLoss, "{}", Describe(damaged));
    if (!read.ok()) {
      RETURN_IF_ERROR(StartAnew(read));
      pending_ = rows;
    }
    Sort(rows);
    return absl::OkStatus();
  }

  void Start() {
    thread_.Start([this] { Loop(); });
    thread_.Wake();
  }

  DiskContent Take() { return std::exchange(content_, {}); }

  void Add(DiskChanges changes) {
    if (changes.empty()) return;
    {
      const std::lock_guard lock(mutex_);
      for (auto& [key, bytes] : RowsOf(std::move(changes))) pending_.insert_or_assign(key, std::move(bytes));
    }
    thread_.Wake();
  }

  std::string Problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
  }

  bool valid() const { return thread_.valid(); }

 private:
  // `why` the file cannot be used any further: it is kept under another name.
  absl::Status StartAnew(const absl::Status& why) {
    const bool newer = why.code() == absl::StatusCode::kFailedPrecondition;
    if (!newer && why.code() != absl::StatusCode::kDataLoss) return why;
    connection_.reset();
    const std::string ending = newer ? ".newer" : ".damaged";
    MoveAside(path_, ending);
    content_.losses.push_back(
        fmt::format("{}: {}; it is kept as {}{}, and the controller sends again what is missing", path_,
                    Message(why), path_, ending));
    ASSIGN_OR_RETURN(connection_, OpenFile(path_));
    return absl::OkStatus();
  }

  void Sort(const Rows& rows) {
    for (const auto& [key, value] : rows) {
      if (key.first == kRevisionRow) {
        content_.revision = *value;
      } else if (key.first == kClaimRow) {
        content_.claims.push_back(*value);
      } else {
        content_.resources.push_back(*value);
      }
    }
  }

  void Loop() {
    int failures = 0;
    int wait_ms = -1;
    while (!thread_.stopping()) {
      pollfd wake{thread_.wake_fd(), POLLIN, 0};
      poll(&wake, 1, wait_ms);
      thread_.Drain();
      if (thread_.stopping()) return;
      failures = WriteOnce() ? 0 : failures + 1;
      wait_ms = failures == 0 ? -1 : static_cast<int>(Backoff::Ceiling(retry_, failures - 1).count());
    }
  }

  // All that has gathered, in one transaction. False if it could not be written: it waits on.
  bool WriteOnce() {
    Rows rows;
    {
      const std::lock_guard lock(mutex_);
      rows.swap(pending_);
    }
    if (rows.empty()) return true;
    const absl::Status status = WriteRows(*connection_, rows);
    const std::lock_guard lock(mutex_);
    problem_ = status.ok() ? std::string()
                           : fmt::format("{} cannot be written: {}; trying again", path_, Message(status));
    if (!status.ok()) pending_.merge(rows);  // What gathered meanwhile is newer and stays.
    return status.ok();
  }

  const FileLock lock_;
  const std::string path_;
  const BackoffOptions retry_;
  DiskContent content_;
  std::optional<sqlite::Connection> connection_;  // By the opener, then by the thread.

  mutable std::mutex mutex_;
  Rows pending_;         // Guarded by mutex_.
  std::string problem_;  // Guarded by mutex_.
  LoopThread thread_;
};

StateDisk::StateDisk(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StateDisk::~StateDisk() = default;

absl::StatusOr<std::unique_ptr<StateDisk>> StateDisk::Open(const std::string& folder,
                                                           const BackoffOptions& retry) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error(absl::StatusCode::kUnavailable,
                 "state_dir {} cannot be made: {}; its parent must exist and be writable", folder,
                 std::generic_category().message(errno));
  }
  absl::StatusOr<FileLock> lock = FileLock::Take(folder + "/agent.lock", 0600);
  if (absl::IsAlreadyExists(lock.status())) {
    return Error(absl::StatusCode::kAlreadyExists,
                 "state_dir {} is used by another agent ({}); give each its own", folder,
                 Message(lock.status()));
  }
  if (!lock.ok()) return Annotate(lock.status(), "state_dir " + folder);
  auto impl = std::make_unique<Impl>(*std::move(lock), folder + "/agent.db", retry);
  if (!impl->valid()) return Error(absl::StatusCode::kUnavailable, "no file descriptor is left");
  RETURN_IF_ERROR(Annotate(impl->OpenAndRead(), "state_dir " + folder));
  impl->Start();
  return std::unique_ptr<StateDisk>(new StateDisk(std::move(impl)));
}

DiskContent StateDisk::Load() { return impl_->Take(); }
void StateDisk::Write(DiskChanges changes) { impl_->Add(std::move(changes)); }
std::string StateDisk::Problem() const { return impl_->Problem(); }

}  // namespace kasane::agent
