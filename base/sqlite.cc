#include "base/sqlite.h"

#include <utility>

#include "base/status.h"

namespace kasane::sqlite {
namespace {

absl::StatusCode CodeOf(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::StatusCode::kUnavailable;
    case SQLITE_FULL:
      return absl::StatusCode::kResourceExhausted;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::StatusCode::kDataLoss;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return absl::StatusCode::kPermissionDenied;
    default:
      return absl::StatusCode::kInternal;
  }
}

absl::Status ErrorOf(sqlite3* handle) {
  return Error(CodeOf(sqlite3_extended_errcode(handle)), "{}", sqlite3_errmsg(handle));
}

}  // namespace

void Statement::Bind(int parameter, int64_t value) { sqlite3_bind_int64(statement_.get(), parameter, value); }

void Statement::Bind(int parameter, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), parameter, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void Statement::BindBlob(int parameter, std::string_view bytes) {
  sqlite3_bind_blob64(statement_.get(), parameter, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
}

absl::StatusOr<bool> Statement::Step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return ErrorOf(sqlite3_db_handle(statement_.get()));
}

absl::Status Statement::Run() {
  absl::StatusOr<bool> row = Step();
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  return row.status();
}

int64_t Statement::Integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

std::string Statement::Text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr ? std::string()
                          : std::string(static_cast<const char*>(bytes), static_cast<size_t>(size));
}

absl::StatusOr<Connection> Connection::Open(const std::string& path) {
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  Connection connection;
  connection.handle_.reset(handle);
  if (code != SQLITE_OK) return Error(CodeOf(code), "{}", sqlite3_errstr(code));
  return connection;
}

absl::StatusOr<Statement> Connection::Prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  Statement statement;
  statement.statement_.reset(raw);
  if (code != SQLITE_OK) return ErrorOf(handle_.get());
  return statement;
}

absl::Status Connection::Execute(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return absl::OkStatus();
  return ErrorOf(handle_.get());
}

absl::StatusOr<Transaction> Transaction::Begin(Connection& connection) {
  RETURN_IF_ERROR(connection.Execute("BEGIN IMMEDIATE"));
  return Transaction(connection);
}

Transaction::Transaction(Transaction&& other) noexcept
    : connection_(std::exchange(other.connection_, nullptr)) {}

Transaction::~Transaction() {
  if (connection_ != nullptr) connection_->Execute("ROLLBACK").IgnoreError();
}

absl::Status Transaction::Commit() {
  RETURN_IF_ERROR(connection_->Execute("COMMIT"));
  connection_ = nullptr;
  return absl::OkStatus();
}

}  // namespace kasane::sqlite
