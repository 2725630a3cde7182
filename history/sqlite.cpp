#include "history/sqlite.hpp"

#include <sqlite3.h>

#include <utility>

namespace triage::history {
namespace {

/// Other recorders hold the lock for milliseconds; a full queue of them for seconds.
constexpr int k_busy_ms = 30'000;

std::string mend_of(int code) {
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return "free some space, or triage history prune";
    case SQLITE_NOTADB:
      return "it is no history file: move it away, or name another";
    case SQLITE_CORRUPT:
      return "restore it from triage history export, or move it away to begin anew";
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return "check the folder's permissions, or name another file";
    case SQLITE_BUSY:
      return "another program holds it: try again";
    default:
      return {};
  }
}

base::Problem problem_of(sqlite3* database, int code, const std::string& path) {
  const char* message = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code);
  return {std::string("history: ") + message, path, mend_of(code)};
}

}  // namespace

// --- Statement ---

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      path_(other.path_) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(database_, other.database_);
  std::swap(statement_, other.statement_);
  std::swap(path_, other.path_);
  return *this;
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

Statement& Statement::bind(int index, std::string_view text) {
  sqlite3_bind_text64(statement_, index, text.data() == nullptr ? "" : text.data(), text.size(),
                      SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(statement_, index, value);
  return *this;
}

Statement& Statement::bind(int index, const std::optional<std::int64_t>& value) {
  if (value) return bind(index, *value);
  sqlite3_bind_null(statement_, index);
  return *this;
}

base::Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return problem_of(database_, code, *path_);
}

void Statement::reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(size));
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::optional<std::int64_t> Statement::optional_integer(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return integer(column);
}

// --- Database ---

Database::Database(sqlite3* database, std::string path)
    : database_(database), path_(std::make_unique<std::string>(std::move(path))) {}

Database::Database(Database&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)), path_(std::move(other.path_)) {}

Database& Database::operator=(Database&& other) noexcept {
  std::swap(database_, other.database_);
  std::swap(path_, other.path_);
  return *this;
}

Database::~Database() {
  sqlite3_close_v2(database_);
}

base::Result<Database> Database::open(const std::string& path, Mode mode) {
  sqlite3* raw = nullptr;
  const int flags =
      mode == Mode::read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  Database database(raw, path);
  if (code != SQLITE_OK) return problem_of(raw, code, path);
  sqlite3_busy_timeout(raw, k_busy_ms);
  sqlite3_extended_result_codes(raw, 1);
  return database;
}

base::Status Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return problem_of(database_, code, *path_);
  return base::Done{};
}

base::Result<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* raw = nullptr;
  const int code =
      sqlite3_prepare_v2(database_, sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  if (code != SQLITE_OK) return problem_of(database_, code, *path_);
  return Statement(database_, raw, path_.get());
}

std::int64_t Database::last_row_id() const {
  return sqlite3_last_insert_rowid(database_);
}

std::uint64_t Database::changes() const {
  return static_cast<std::uint64_t>(sqlite3_changes64(database_));
}

// --- Transaction ---

Transaction::Transaction(Transaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

base::Result<Transaction> Transaction::begin(Database& database) {
  const auto status = database.execute("BEGIN IMMEDIATE");
  if (!status) return status.problem();
  return Transaction(database);
}

Transaction::~Transaction() {
  // What stands in the way of a rollback (a full disk) has rolled back already.
  if (database_ != nullptr) (void)database_->execute("ROLLBACK");
}

base::Status Transaction::commit() {
  auto status = database_->execute("COMMIT");
  if (status) database_ = nullptr;
  return status;
}

}  // namespace triage::history
