// SQLite's C interface as values: errors as absl::Status, statements and connections that close themselves.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace kasane::sqlite {

// A prepared statement. Parameters are numbered from 1, columns from 0.
class Statement {
 public:
  void Bind(int parameter, int64_t value);
  void Bind(int parameter, std::string_view text);       // Copied.
  void BindBlob(int parameter, std::string_view bytes);  // Copied.

  // True: a row is there to be read. False: done.
  absl::StatusOr<bool> Step();
  // For statements without rows. Ready to be bound and run again after.
  absl::Status Run();

  int64_t Integer(int column) const;
  std::string Text(int column) const;  // Text or blob.

 private:
  friend class Connection;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// An open database. One thread at a time.
class Connection {
 public:
  static absl::StatusOr<Connection> Open(const std::string& path);

  absl::StatusOr<Statement> Prepare(std::string_view sql);
  absl::Status Execute(const std::string& sql);  // Any number of statements without parameters and rows.

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

// BEGIN IMMEDIATE; rolled back when it goes out of scope without Commit.
class Transaction {
 public:
  static absl::StatusOr<Transaction> Begin(Connection& connection);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  absl::Status Commit();

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}
  Connection* connection_;  // Null: nothing to roll back.
};

}  // namespace kasane::sqlite
