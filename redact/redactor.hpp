#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "evidence/format.hpp"
#include "evidence/kind.hpp"
#include "evidence/user_text.hpp"
#include "redact/custom_rules.hpp"
#include "redact/finding.hpp"

/// Redaction of evidence while it streams. Lines are never added, removed or reordered; what is not
/// masked keeps its bytes, so that JSON and YAML stay what they were; redacting twice changes
/// nothing more. Memory is bounded whatever the input: a line is looked at in pieces of at most
/// 64 MiB, and what is remembered of a run (values to be masked wherever they stand) has limits.
namespace triage::redact {

class KeyClassifier;
class KnownValues;
class Namer;
class UserTextSpans;

struct Options {
  /// Pseudonyms are HMACs with `salt`; an empty one is drawn anew. Fixed placeholders need none.
  enum class Placeholders : std::uint8_t { pseudonyms, fixed };
  Placeholders placeholders = Placeholders::pseudonyms;
  std::string salt;
  /// Drops every text that could be content, and host names as a whole.
  bool strict = false;
  /// Logged prompts and outputs, as rule packs mark them; beside what this folder knows itself.
  std::vector<evidence::UserTextSpan> user_text;
  CustomRules custom;
  /// Keeps what every placeholder stands for. The map is as secret as the evidence.
  bool keep_reverse_map = false;
};

/// How often each kind was masked. Counts, never text.
struct Counts {
  std::array<std::uint64_t, k_what_count> by_what{};
  std::map<std::string, std::uint64_t> by_rule;  ///< custom rules, by id

  [[nodiscard]] std::uint64_t total() const;
  /// Credentials and content.
  [[nodiscard]] std::uint64_t tier1() const;
  void add(const Counts& other);
};

/// One evidence file or stream of it.
struct Source {
  std::string name;  ///< for the report
  evidence::Kind kind = evidence::Kind::unknown_text;
  evidence::Format format = evidence::Format::lines;
};

using Sink = std::function<void(std::string_view)>;

class Redactor;

/// Redacts one stream. Not to be shared between threads; several streams of a Redactor may run at
/// once. The same bytes give the same output however they are cut into chunks.
class Stream {
 public:
  ~Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;

  void feed(std::string_view chunk, const Sink& sink);
  /// Ends the stream: writes what waits for its line end and hands the counts to the redactor.
  void finish(const Sink& sink);
  [[nodiscard]] const Counts& counts() const;

 private:
  friend class Redactor;
  struct State;
  explicit Stream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// What the streams of one run share: the salt, the values that were masked (masked wherever they
/// appear again), the counts.
class Redactor {
 public:
  explicit Redactor(Options options);
  ~Redactor();
  Redactor(const Redactor&) = delete;
  Redactor& operator=(const Redactor&) = delete;

  [[nodiscard]] Stream open(const Source& source);
  /// All at once, for short texts such as a command line in a manifest.
  [[nodiscard]] std::string redact(std::string_view text, const Source& source);

  /// Looks at redacted text again, now knowing every value of the run: what it finds of tier 1
  /// should not leave. The counts of the run stay as they are.
  [[nodiscard]] Stream check(const Source& source);

  /// The name that an address has in this run: for paths and manifests. A host without a domain
  /// keeps its name, unless redaction is strict: then it has none, and texts lose it from here on.
  [[nodiscard]] std::string pseudonym_of_host(std::string_view host);
  [[nodiscard]] std::string pseudonym_of_ip(std::string_view address);

  [[nodiscard]] Counts totals() const;
  /// Grows whenever a value is learnt that earlier files may hold.
  [[nodiscard]] std::size_t known_values() const;
  /// Tells runs with different salts apart without giving the salt away.
  [[nodiscard]] std::string salt_id() const;
  [[nodiscard]] bool strict() const;
  /// `redaction.json`: mode, salt id, counts for each file and kind; quotes nothing.
  [[nodiscard]] std::string report_json() const;
  /// Placeholder and what it stands for, sorted; empty unless asked for in the options.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> reverse_map() const;

  struct Shared;

 private:
  std::unique_ptr<Shared> shared_;
};

}  // namespace triage::redact
