#include "history/store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/digest.hpp"
#include "base/text.hpp"
#include "history/schema.hpp"
#include "history/sqlite.hpp"

namespace triage::history {
namespace {

constexpr std::string_view k_columns =
    "id, uid, recorded_ns, incident, fingerprint, class, cause, title, severity, confidence, "
    "scope, "
    "pattern, fault_domain, quarantine_target, quarantine_action, first_error_ns, "
    "first_error_file, first_error_line, first_error_text, driver, cuda, engine, engine_version, "
    "tool_version, rules_digest";

std::string new_uid() {
  const std::string bytes = base::random_bytes(16);
  return base::to_hex({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

Run run_from(const Statement& row) {
  Run run;
  int at = 0;
  run.id = row.integer(at++);
  run.uid = row.text(at++);
  run.recorded_ns = row.integer(at++);
  for (std::string* text : {&run.incident, &run.fingerprint, &run.class_, &run.cause, &run.title,
                            &run.severity, &run.confidence, &run.scope, &run.pattern,
                            &run.fault_domain, &run.quarantine_target, &run.quarantine_action})
    *text = row.text(at++);
  run.first_error_ns = row.optional_integer(at++);
  run.first_error_file = row.text(at++);
  run.first_error_line = static_cast<std::uint32_t>(row.integer(at++));
  for (std::string* text : {&run.first_error_text, &run.driver, &run.cuda, &run.engine,
                            &run.engine_version, &run.tool_version, &run.rules_digest})
    *text = row.text(at++);
  return run;
}

/// Binds a run's columns behind `id`, then the report.
void bind_run(Statement& row, const Run& run) {
  int at = 1;
  row.bind(at++, run.uid);
  row.bind(at++, run.recorded_ns);
  for (const std::string* text :
       {&run.incident, &run.fingerprint, &run.class_, &run.cause, &run.title, &run.severity,
        &run.confidence, &run.scope, &run.pattern, &run.fault_domain, &run.quarantine_target,
        &run.quarantine_action})
    row.bind(at++, *text);
  row.bind(at++, run.first_error_ns);
  row.bind(at++, run.first_error_file);
  row.bind(at++, static_cast<std::int64_t>(run.first_error_line));
  for (const std::string* text :
       {&run.first_error_text, &run.driver, &run.cuda, &run.engine, &run.engine_version,
        &run.tool_version, &run.rules_digest, &run.report_json})
    row.bind(at++, *text);
}

base::Status insert_name(Statement& statement, std::int64_t run, std::string_view kind,
                         const analysis::GpuEntity& name) {
  statement.reset();
  statement.bind(1, run).bind(2, kind).bind(3, name.uuid).bind(4, name.pci).bind(5, name.node);
  statement.bind(6, name.index).bind(7, name.name);
  const auto done = statement.step();
  if (!done) return done.problem();
  return base::Done{};
}

base::Status insert_names(Database& database, std::int64_t id, const Run& run) {
  auto statement = database.prepare(
      "INSERT INTO names (run, kind, name, pci, node, gpu_index, model) VALUES (?,?,?,?,?,?,?)");
  if (!statement) return statement.problem();
  const auto plain = [&](std::string_view kind, const std::vector<std::string>& names) {
    for (const auto& name : names) {
      auto status = insert_name(statement.value(), id, kind, {name, "", "", "", ""});
      if (!status) return status;
    }
    return base::Status(base::Done{});
  };
  for (const auto& [kind, names] : {std::pair("node", &run.nodes), std::pair("pod", &run.pods),
                                    std::pair("image", &run.images)}) {
    auto status = plain(kind, *names);
    if (!status) return status;
  }
  for (const auto& gpu : run.gpus) {
    auto status = insert_name(statement.value(), id, "gpu", gpu);
    if (!status) return status;
  }
  return base::Done{};
}

base::Status read_names(const Database& database, Run& run) {
  auto statement = database.prepare(
      "SELECT kind, name, pci, node, gpu_index, model FROM names WHERE run = ? ORDER BY rowid");
  if (!statement) return statement.problem();
  statement->bind(1, run.id);
  while (true) {
    const auto row = statement->step();
    if (!row) return row.problem();
    if (!row.value()) return base::Done{};
    const std::string kind = statement->text(0);
    if (kind == "node") run.nodes.push_back(statement->text(1));
    if (kind == "pod") run.pods.push_back(statement->text(1));
    if (kind == "image") run.images.push_back(statement->text(1));
    if (kind == "gpu")
      run.gpus.push_back({statement->text(1), statement->text(2), statement->text(4),
                          statement->text(3), statement->text(5)});
  }
}

/// Creates the folder (0700) and the file (0600) where they are missing: reports name hosts.
base::Status prepare_file(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty() && !std::filesystem::exists(folder, error)) {
    std::filesystem::create_directories(folder, error);
    if (error)
      return base::Problem{"history: " + error.message(), folder.string(),
                           "name another file with TRIAGE_HISTORY"};
    ::chmod(folder.c_str(), 0700);
  }
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0)
    return base::Problem{std::string("history: ") + std::strerror(errno), path,
                         "name another file with TRIAGE_HISTORY"};
  ::close(descriptor);
  return base::Done{};
}

struct Condition {
  std::string sql;
  std::vector<std::string> texts;
  std::vector<std::int64_t> numbers;
};

/// The texts are bound first, then the numbers: the conditions come in that order too.
Condition condition_of(const Filter& filter) {
  Condition condition;
  condition.sql = "1";
  const auto equals = [&](std::string_view column, const std::string& value) {
    if (value.empty()) return;
    condition.sql += fmt::format(" AND {} = ?", column);
    condition.texts.push_back(value);
  };
  const auto named = [&](std::string_view kind, const std::string& value) {
    if (value.empty()) return;
    condition.sql +=
        fmt::format(" AND id IN (SELECT run FROM names WHERE kind = '{}' AND name = ?)", kind);
    condition.texts.push_back(value);
  };
  equals("class", filter.class_);
  equals("cause", filter.cause);
  equals("fingerprint", filter.fingerprint);
  named("node", filter.node);
  named("pod", filter.pod);
  if (!filter.image.empty()) {
    // A reference, its end (a tag or digest) or any part of it.
    condition.sql +=
        " AND id IN (SELECT run FROM names WHERE kind = 'image' AND instr(name, ?) > 0)";
    condition.texts.push_back(filter.image);
  }
  if (!filter.gpu.empty()) {
    condition.sql +=
        " AND id IN (SELECT run FROM names WHERE kind = 'gpu' AND (name = ? OR pci = ?))";
    condition.texts.push_back(filter.gpu);
    condition.texts.push_back(filter.gpu);
  }
  if (filter.since_ns) {
    condition.sql += " AND coalesce(first_error_ns, recorded_ns) >= ?";
    condition.numbers.push_back(*filter.since_ns);
  }
  if (filter.until_ns) {
    condition.sql += " AND coalesce(first_error_ns, recorded_ns) < ?";
    condition.numbers.push_back(*filter.until_ns);
  }
  return condition;
}

}  // namespace

struct Store::State {
  Database database;
};

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

base::Result<Store> Store::open(const std::string& path, Mode mode) {
  const bool writes = mode == Mode::read_write;
  if (writes) {
    const auto status = prepare_file(path);
    if (!status) return status.problem();
  } else if (!std::filesystem::exists(path)) {
    return base::Problem{"no history is there yet", path,
                         "record one with triage analyze --record"};
  }
  auto database =
      Database::open(path, writes ? Database::Mode::read_write : Database::Mode::read_only);
  if (!database) return database.problem();
  // FULL: a row that was reported as recorded outlives a power cut, not only this process.
  const std::string pragmas = writes ? "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; "
                                       "PRAGMA foreign_keys = ON;"
                                     : "PRAGMA query_only = ON;";
  auto status = database->execute(pragmas);
  if (!status) return status.problem();
  status = writes ? migrate(database.value(), path) : check_version(database.value(), path);
  if (!status) return status.problem();
  return Store(std::make_unique<State>(State{std::move(database).value()}));
}

base::Result<std::int64_t> Store::record(Run run) {
  if (run.uid.empty()) run.uid = new_uid();
  auto transaction = Transaction::begin(state_->database);
  if (!transaction) return transaction.problem();
  auto statement = state_->database.prepare(
      "INSERT INTO runs (" + std::string(k_columns.substr(4)) +
      ", report) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  if (!statement) return statement.problem();
  bind_run(statement.value(), run);
  const auto done = statement->step();
  if (!done) return done.problem();
  const std::int64_t id = state_->database.last_row_id();
  auto status = insert_names(state_->database, id, run);
  if (!status) return status.problem();
  status = transaction->commit();
  if (!status) return status.problem();
  return id;
}

base::Result<bool> Store::import(Run run) {
  auto statement = state_->database.prepare("SELECT 1 FROM runs WHERE uid = ?");
  if (!statement) return statement.problem();
  statement->bind(1, run.uid);
  const auto known = statement->step();
  if (!known) return known.problem();
  if (known.value() && !run.uid.empty()) return false;
  statement->reset();
  const auto id = record(std::move(run));
  if (!id) return id.problem();
  return true;
}

base::Result<std::vector<Run>> Store::find(const Filter& filter) const {
  const Condition condition = condition_of(filter);
  const auto limit = static_cast<std::int64_t>(
      std::min<std::uint64_t>(filter.limit, static_cast<std::uint64_t>(INT64_MAX)));
  auto statement = state_->database.prepare(
      fmt::format("SELECT {} FROM runs WHERE {} ORDER BY coalesce(first_error_ns, recorded_ns) "
                  "DESC, id DESC LIMIT {}",
                  k_columns, condition.sql, limit));
  if (!statement) return statement.problem();
  int at = 1;
  for (const auto& text : condition.texts) statement->bind(at++, text);
  for (const std::int64_t number : condition.numbers) statement->bind(at++, number);
  std::vector<Run> runs;
  while (true) {
    const auto row = statement->step();
    if (!row) return row.problem();
    if (!row.value()) break;
    runs.push_back(run_from(statement.value()));
  }
  for (Run& run : runs) {
    const auto status = read_names(state_->database, run);
    if (!status) return status.problem();
  }
  return runs;
}

base::Result<std::optional<Run>> Store::get(const std::string& id) const {
  const auto number = base::parse_int(id);
  // A number is a row; eight hex digits or more may begin a uid or an incident's key. instr, since
  // LIKE would take % and _ for wildcards.
  auto statement = state_->database.prepare(
      fmt::format("SELECT {}, report FROM runs WHERE id = ?1 OR (length(?2) >= 8 AND "
                  "(instr(uid, ?2) = 1 OR instr(incident, ?2) = 1)) OR incident = ?2 "
                  "ORDER BY (id = ?1) DESC, id DESC LIMIT 1",
                  k_columns));
  if (!statement) return statement.problem();
  statement->bind(1, number.value_or(-1)).bind(2, id);
  const auto row = statement->step();
  if (!row) return row.problem();
  if (!row.value()) return std::optional<Run>();
  Run run = run_from(statement.value());
  run.report_json = statement->text(25);
  const auto status = read_names(state_->database, run);
  if (!status) return status.problem();
  return std::optional<Run>(std::move(run));
}

base::Status Store::for_each(const std::function<void(const Run&)>& visit) const {
  auto statement =
      state_->database.prepare(fmt::format("SELECT {}, report FROM runs ORDER BY id", k_columns));
  if (!statement) return statement.problem();
  while (true) {
    const auto row = statement->step();
    if (!row) return row.problem();
    if (!row.value()) return base::Done{};
    Run run = run_from(statement.value());
    run.report_json = statement->text(25);
    auto status = read_names(state_->database, run);
    if (!status) return status;
    visit(run);
  }
}

base::Result<std::uint64_t> Store::prune(std::int64_t before_ns, std::size_t keep, Dry dry) {
  auto transaction = Transaction::begin(state_->database);
  if (!transaction) return transaction.problem();
  const auto kept = static_cast<std::int64_t>(
      std::min<std::uint64_t>(keep, static_cast<std::uint64_t>(INT64_MAX)));
  const std::string where =
      "recorded_ns < ?1 AND id NOT IN (SELECT id FROM runs ORDER BY recorded_ns DESC, id DESC "
      "LIMIT ?2)";
  auto statement =
      state_->database.prepare(dry == Dry::yes ? "SELECT count(*) FROM runs WHERE " + where
                                               : "DELETE FROM runs WHERE " + where);
  if (!statement) return statement.problem();
  statement->bind(1, before_ns).bind(2, kept);
  const auto row = statement->step();
  if (!row) return row.problem();
  if (dry == Dry::yes) return static_cast<std::uint64_t>(statement->integer(0));
  const std::uint64_t count = state_->database.changes();
  statement->reset();
  auto status = transaction->commit();
  if (!status) return status.problem();
  // Gives the room back to the file system; of no matter when another reader stands in the way.
  if (count > 0) (void)state_->database.execute("VACUUM");
  return count;
}

base::Result<std::string> default_path() {
  const auto from = [](const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
  };
  if (const std::string path = from("TRIAGE_HISTORY"); !path.empty()) return path;
  if (const std::string state = from("XDG_STATE_HOME"); !state.empty())
    return state + "/triage/history.db";
  if (const std::string home = from("HOME"); !home.empty())
    return home + "/.local/state/triage/history.db";
  return base::Problem{"no place for the history: neither HOME nor XDG_STATE_HOME is set", "",
                       "name a file with TRIAGE_HISTORY"};
}

}  // namespace triage::history
