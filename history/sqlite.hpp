#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

/// A thin, owning skin over SQLite's C interface; every failure is a value.
namespace triage::history {

class Statement {
 public:
  Statement(Statement&&) noexcept;
  Statement& operator=(Statement&&) noexcept;
  ~Statement();

  /// Parameters count from 1. The text is copied.
  Statement& bind(int index, std::string_view text);
  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, const std::optional<std::int64_t>& value);

  /// True: a row stands ready. False: done.
  [[nodiscard]] base::Result<bool> step();
  void reset();

  /// Columns count from 0.
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::optional<std::int64_t> optional_integer(int column) const;

 private:
  friend class Database;
  Statement(sqlite3* database, sqlite3_stmt* statement, const std::string* path)
      : database_(database), statement_(statement), path_(path) {}
  sqlite3* database_;
  sqlite3_stmt* statement_;
  const std::string* path_;
};

class Database {
 public:
  enum class Mode : std::uint8_t { read_write, read_only };
  [[nodiscard]] static base::Result<Database> open(const std::string& path, Mode mode);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  [[nodiscard]] base::Status execute(const std::string& sql);
  [[nodiscard]] base::Result<Statement> prepare(std::string_view sql) const;
  [[nodiscard]] std::int64_t last_row_id() const;
  [[nodiscard]] std::uint64_t changes() const;

 private:
  Database(sqlite3* database, std::string path);
  sqlite3* database_;
  std::unique_ptr<std::string> path_;  ///< at a fixed address: statements point at it
};

/// Takes the write lock at once; rolls back unless committed.
class Transaction {
 public:
  [[nodiscard]] static base::Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  [[nodiscard]] base::Status commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace triage::history
