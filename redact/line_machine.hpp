#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "redact/object_kind.hpp"
#include "redact/scanner.hpp"

namespace triage::redact {

/// Where the message of a log line begins: behind the stamps and stream names that containers,
/// kubectl, compose and journald put before every physical line. `partial` is CRI's `P`: the next
/// line goes on.
struct Payload {
  std::size_t begin = 0;
  bool framed = false;  ///< a runtime put the prefix there, so it says nothing of the message
  bool partial = false;
};
[[nodiscard]] Payload payload_of(std::string_view line);

/// Whether a message begins with a stamp, a level or another mark that loggers start records with.
[[nodiscard]] bool is_record_start(std::string_view message);

/// What the lines so far leave to the next ones, all but what is nested. Copied for every line:
/// trivially so.
struct LineMarks {
  /// What the name of a key says of the lines below it.
  enum class Section : std::uint8_t {
    none,
    data,  ///< `data:` of an object that holds no secrets
    secret_data,
    maybe_data,  ///< `data:` of an object that named no kind
    users,       ///< persons or accounts, each with a name
    prompts,     ///< a file of texts for a model
    files,       ///< whole files: `write_files:` of cloud-init, `copy:` of Ansible
  };
  struct Level {
    std::size_t indent;
    KeyClass inherited;  ///< of the values under this key
    Section section = Section::none;
  };
  /// The `kind:` of a Kubernetes object.
  struct Object {
    std::size_t indent;
    ObjectKind kind;
    bool holds_objects = false;  ///< a list or a template: those inside have kinds of their own
    bool last_key = true;        ///< no other key of the object stood behind it yet
  };
  /// What a YAML block, a text without end or a key without value claims of the following lines.
  struct Block {
    bool active = false;
    std::size_t indent = 0;    ///< lines deeper than this belong to it
    bool keys_end_it = false;  ///< a plain text that runs on; a line with a key is none of it
    int lines_left = 0;
    What what = What::text;
    bool announced = false;  ///< by a line before that names the text and ends in a colon
    bool masked_one = false;
    bool here_document = false;  ///< ends at a word alone
    bool ends_at_blank = false;  ///< a subtitle
    bool unless_file = false;    ///< the first line may show that it is no text but a file
    bool only_base64 = false;    ///< the first line may show that it is no secret
  };

  Block block_;
  KeyClass named_;  ///< of a YAML `name:` that waits for its `value:`
  std::size_t named_indent_ = 0;
  bool value_table_ = false;  ///< inside a table of names and values
  bool ssh_host_ = false;     ///< below `Host` of ssh_config
  int user_column_ = 0;       ///< of a table of processes or accounts; 0 outside
  int table_lines_ = 0;
  int pem_lines_ = 0;
  bool after_partial_ = false;
  bool mounting_ = false;  ///< kubelet told of a mount: `Output:` is the command's
  ObjectKind kind_ahead_ = ObjectKind::unknown;  ///< of the object whose `data:` begins
};

/// What the lines so far leave to the next ones.
struct LineMemory : LineMarks {
  ScanState state_;
  std::vector<Level> levels_;
  std::vector<Object> objects_;
};
static_assert(std::is_trivially_copyable_v<LineMarks> && std::is_trivially_copyable_v<ScanMarks>);

/// Redacts the lines of one stream in order, and carries what reaches over line ends: private keys,
/// texts whose quote is still open, YAML blocks, credentials cut by a terminal, flags whose value
/// stands on the next line. Lines are never joined or split: each gives edits of its own.
class LineMachine : private LineMemory {
 public:
  LineMachine(Env& env, int depth) : env_(env), depth_(depth) {}

  /// `line` without its end.
  void line(std::string_view line, Edits& out);
  /// Whether the line begins the `data` of an object whose kind did not stand before it.
  [[nodiscard]] DataKey asks_for_kind(std::string_view line) const;
  /// What the lines behind the next one say of it.
  void kind_ahead(ObjectKind kind);
  /// Keeps what was known before a line, so that `again` can look at it as it was redacted.
  void remember();
  /// What a second run would still mask in the line that was just redacted. What follows is read
  /// as after the original.
  void again(std::string_view redacted, Edits& out);

 private:
  bool container_json(std::string_view line, Edits& out);
  std::size_t continued(std::string_view line, const Payload& payload, bool record_start,
                        Edits& out);
  bool pem_line(std::string_view line, const Payload& payload, Edits& out);
  bool pgpass(std::string_view line, std::size_t begin, Edits& out);
  std::size_t structure(std::string_view line, std::size_t begin, Edits& out);
  std::size_t after_key(std::string_view line, std::size_t indent, std::string_view key,
                        std::size_t value, char separator, Edits& out);
  void in_prompts();
  [[nodiscard]] Section section_of(std::string_view key, std::size_t indent);
  void note_kind(std::string_view key, std::string_view value, std::size_t indent);

  // host_lines.cpp
  bool wireguard_dump(std::string_view line, Edits& out);
  bool column_pair(std::string_view line, std::size_t key, std::size_t key_end, Edits& out);
  void table_head(std::string_view line);
  void column_user(std::string_view line, Edits& out);
  bool named_user(std::string_view line, std::size_t begin, Edits& out);
  [[nodiscard]] bool listed_user(std::string_view key, std::string_view value) const;
  void here_document(std::string_view line);
  bool placed(std::string_view line, std::size_t begin, std::size_t end, Edits& out);

  void access_log_user(std::string_view line, std::size_t begin, Edits& out);

  // text_blocks.cpp
  void announces_text(std::string_view line, std::size_t begin);
  void announce(What what);
  bool traced_value(std::string_view line, std::size_t begin, Edits& out);  // traced_values.cpp
  bool cue_line(std::string_view line, std::size_t begin, Edits& out);
  bool block_line(std::string_view line, std::size_t begin, Edits& out);
  std::size_t template_line(std::string_view line, std::size_t text, Edits& out);

  void mask_rest(std::string_view line, std::size_t begin, std::size_t end, What what, Edits& out);

  Env& env_;
  int depth_;
  std::string code_;                    ///< the last indented line: of a traceback, it may be code
  LineMemory before_;                   ///< of the last line that began
  std::unique_ptr<LineMachine> inner_;  ///< of Docker's JSON records
};

}  // namespace triage::redact
