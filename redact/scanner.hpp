#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redact/decode.hpp"
#include "redact/finding.hpp"
#include "redact/key_class.hpp"
#include "redact/known_values.hpp"
#include "redact/namer.hpp"

namespace triage::redact {

/// What is looked for in a text; follows from its kind and from the person's options.
struct Profile {
  bool content = true;       ///< prompts and outputs in any wording; off in kernel logs and metrics
  bool free_text = true;     ///< content in prose (`Prompt: ...`); off in Kubernetes objects
  bool secret_data = false;  ///< `data:` may be that of a Kubernetes Secret
  bool addresses = true;
  bool strict = false;  ///< every text that could be content; whole host names
  bool xml = false;     ///< placeholders in square brackets
};

/// What scanning shares within one stream.
struct Env {
  Namer& namer;
  KeyCache& keys;
  KnownValues* known = nullptr;  ///< learns what is masked; null in excerpts
  Profile profile;
  /// Bytes that may still be looked at more than once for the current line. Hostile lines (a quote
  /// that never ends, a million times over) run out of it and are masked from there on.
  std::size_t work = 0;

  /// Work for a line of this size; ordinary lines need a tenth of it.
  void begin_line(std::size_t size) { work = size * 40 + (64U << 10U); }
  [[nodiscard]] bool spend(std::size_t bytes) {
    work = work > bytes ? work - bytes : 0;
    return work > 0;
  }
};

/// Stands for the quote of a conversation whose turn did not end.
inline constexpr char k_template = '|';

/// A bracket, brace or parenthesis that is open, or a quoted text that is looked into.
struct Frame {
  char open = 0;
  KeyClass inherited;        ///< of the elements that have no key of their own
  KeyClass named;            ///< what a `name` said about its `value`
  KeyClass flagged;          ///< what the element before said about the next (`"--api-key", "x"`)
  bool flag_named = false;   ///< by a name (`("api_key", "x")`), not by a flag
  int flag_after = 0;        ///< elements before the flagged one (`auth=("user", "password")`)
  bool speech = false;       ///< inside messages, choices or documents: `text` is content
  bool every_value = false;  ///< values under any key are `inherited`
  bool secret = false;       ///< the object's own key named a secret: its `value` is one
  bool generated = false;    ///< a resource of Terraform that holds what it drew
  bool login = false;        ///< of a command whose arguments are a user and a password
  bool person = false;       ///< the object of a user: its `name` is one of a person
  bool media = false;        ///< inside a picture or a recording: base64 is content
};

/// What one line leaves to the next, all but what is open. Copied for every line: trivially so.
struct ScanMarks {
  KeyClass pending;  ///< of a key whose value did not come
  /// A quoted text that did not end.
  struct Open {
    bool active = false;
    char quote = 0;
    What what = What::text;
    int lines_left = 0;
    bool reply = false;  ///< of a conversation: the model's turn, no word of which came yet
  } open;
  /// The quote before the first marker of a conversation that goes on over lines, or 0: it ends it.
  char template_quote = 0;
  /// A credential that was cut by the end of the line.
  struct Wrap {
    bool active = false;
    bool certain = false;  ///< by its format or a backslash; else the next word must look generated
    What what = What::token;
  } wrap;
  bool pem = false;           ///< inside a private key
  bool here = false;          ///< a here-document began on this line
  bool other_object = false;  ///< the last `kind:` on a line of its own named no Secret
};

/// What one line leaves to the next.
struct ScanState : ScanMarks {
  std::vector<Frame> frames;
};

/// Looks at one line or decoded text and notes what is to be masked. It knows no line structure of
/// files (that is LineMachine's), but every structure inside a line: `key: value` and `key=value`
/// in any syntax, quoted and nested texts, lists, calls, URLs, command lines, headers.
///
/// Rather than one parser per format there is one tolerant reader, because logs mix them (JSON in a
/// Python dict in a journal line) and cut them anywhere. It decodes quoted texts and reads inside,
/// eight levels deep.
class Scanner {
 public:
  Scanner(Env& env, ScanState& state, std::string_view text, Edits& out, int depth, bool line_end)
      : env_(env), state_(state), text_(text), out_(out), depth_(depth), line_end_(line_end) {
    if (state_.frames.empty()) state_.frames.emplace_back();
  }

  void scan(std::size_t begin, std::size_t end);

  /// The value of a key that the caller recognised, quoted or not, up to `end`.
  void mask_value(KeyClass key, std::size_t begin, std::size_t end);
  void mask(std::size_t begin, std::size_t end, What what, std::string_view value);
  /// The value of a key that begins at `at` without quotes; where the part behind it begins.
  std::size_t bare_value(KeyClass key, char separator, std::size_t key_begin, std::size_t at,
                         std::size_t end);
  /// Fallback of `mask_value` for a value that is none: what stands in it is still looked at.
  [[nodiscard]] bool is_secret_value(KeyClass key, std::string_view value) const;

 private:
  // scanner.cpp: the walk over words and brackets.
  std::size_t on_word(std::size_t begin, std::size_t end);
  std::size_t on_open(std::size_t at, std::size_t end);
  std::size_t on_close(std::size_t at, std::size_t end);
  void pop_to(char open);
  std::size_t on_less(std::size_t at, std::size_t end);
  std::size_t on_template(std::size_t at, std::size_t end);

  // scan_quotes.cpp: quoted texts.
  std::size_t on_quote(std::size_t begin, std::size_t end, KeyClass key, bool keyed);
  [[nodiscard]] bool speaks_of_content(std::size_t quote);
  void quoted_value(KeyClass key, std::size_t begin, std::size_t end, char quote);
  void look_inside(KeyClass inherited, bool every_value, std::size_t begin, std::size_t end,
                   char quote);
  [[nodiscard]] std::size_t closing_quote(std::size_t at, std::size_t end, bool content);
  [[nodiscard]] std::size_t find_closing_quote(std::size_t at, std::size_t end, bool content) const;

  // scan_keys.cpp: names before values.
  std::size_t on_key(std::string_view key, std::size_t key_begin, std::size_t value, char separator,
                     std::size_t end);
  [[nodiscard]] KeyClass class_of_key(std::string_view key, std::size_t key_begin, char separator);
  std::size_t on_quoted_value(std::string_view key, KeyClass found, std::size_t at,
                              std::size_t end);
  [[nodiscard]] bool is_log_record(std::string_view key, std::size_t at, std::size_t end);
  std::size_t on_literal(std::size_t key_begin, std::size_t at, std::size_t end);
  std::size_t on_open_value(std::string_view key, KeyClass found, std::size_t at, std::size_t end);
  [[nodiscard]] KeyClass allowed(KeyClass key) const;
  [[nodiscard]] KeyClass name_after(std::size_t value, std::size_t end);
  std::size_t on_index(std::size_t begin, std::size_t bracket, std::size_t end);
  [[nodiscard]] KeyClass numbered_text(std::size_t number) const;
  [[nodiscard]] KeyClass phrase_class(std::size_t begin, std::size_t end) const;

  // scan_commands.cpp: command lines, and words that a secret follows without a sign between.
  std::size_t on_flag(std::size_t begin, std::size_t word_end, std::size_t end);
  std::size_t text_argument(KeyClass key, std::size_t at, std::size_t end);
  std::size_t on_command_argument(std::size_t word_end, std::size_t end);
  std::size_t on_named_argument(std::size_t begin, std::size_t word_end, std::size_t end);
  std::size_t on_spoken_secret(std::size_t begin, std::size_t word_end, std::size_t end);
  std::size_t on_login(std::size_t begin, std::size_t word_end, std::size_t end);
  std::size_t on_chat_command(std::size_t begin, std::size_t word_end, std::size_t end);
  std::size_t on_community(std::size_t word_end, std::size_t end);
  std::size_t on_boot_login(std::size_t colon, std::size_t end);

  // scan_audit.cpp
  std::size_t on_hex_text(std::string_view key, std::size_t at, std::size_t end);
  KeyClass class_of_argument(std::string_view key, std::size_t quote, std::size_t end);

  // scan_logins.cpp
  std::size_t on_auth_command(std::size_t word_end, std::size_t end);
  std::size_t on_acl(std::size_t word_end, std::size_t end);
  void user_at_host(std::size_t begin, std::size_t end);

  // scan_phrases.cpp
  std::size_t on_scored_text(std::size_t close, std::size_t end);
  std::size_t on_unreadable_output(std::size_t at, std::size_t end);
  std::size_t on_logged_in(std::size_t word_end, std::size_t end);

  // scan_personal.cpp
  std::size_t on_phone(std::size_t begin, std::size_t end);
  std::size_t on_personal_number(std::size_t begin, std::size_t word_end, std::size_t end);
  std::size_t on_data_url(std::size_t begin, std::size_t end);

  // scan_ids.cpp: token ids.
  std::size_t id_list(std::size_t at, std::size_t end);
  [[nodiscard]] bool looks_like_ids(std::size_t at, std::size_t end) const;
  std::size_t logprob_list(std::size_t bracket, std::size_t end);
  std::size_t bytes_of_piece(std::size_t bracket, std::size_t end);

  // scan_contexts.cpp: what the text around says.
  [[nodiscard]] bool names_none(std::string_view value, std::size_t first, std::size_t end) const;
  std::size_t on_piped_secret(std::size_t begin, std::size_t word_end, std::size_t end);
  std::size_t on_here_string(std::size_t at, std::size_t end);
  std::size_t on_here_document(std::size_t at, std::size_t end);
  [[nodiscard]] bool passes_to_tool(std::size_t brace) const;
  [[nodiscard]] bool is_secret_object(std::size_t at);

  // scan_values.cpp: values by the class of their key.
  void text_value(KeyClass key, std::size_t begin, std::size_t end, bool sure);
  bool sql_value(KeyClass key, std::size_t begin, std::size_t end);
  bool encoded_value(KeyClass key, std::size_t begin, std::size_t end);

  // scan_bare.cpp: values without quotes.
  std::size_t bare_secret(KeyClass key, char separator, std::size_t key_begin, std::size_t at,
                          std::size_t end);
  std::size_t bare_content(KeyClass key, char separator, std::size_t key_begin, std::size_t at,
                           std::size_t end);
  void mask_guess(std::size_t begin, std::size_t end, What what, std::string_view value);
  void mask_bare(std::size_t begin, std::size_t end, What what, std::string_view value);
  std::size_t bare_user(std::size_t at, std::size_t end, char separator);
  [[nodiscard]] std::size_t bare_end(std::size_t at, std::size_t end, char separator) const;

  // scan_credentials.cpp: credentials in a form of their own.
  std::size_t credentials(std::size_t at, std::size_t end);
  std::size_t cookies(std::size_t at, std::size_t end);
  bool pair(std::size_t at, std::size_t end);

  // scan_words.cpp: words by their own form.
  void on_plain_word(std::size_t begin, std::size_t end, unsigned classes);
  std::size_t on_url(std::size_t begin, std::size_t colon, std::size_t end);
  std::size_t on_query(std::size_t at, std::size_t end);
  std::size_t on_pem(std::size_t begin, std::size_t end);
  std::size_t on_numbers_with_colons(std::size_t begin, std::size_t end);
  bool tokens_in(std::size_t begin, std::size_t end);
  std::size_t on_secret_behind_id(std::size_t begin, std::size_t stop);
  bool emails(std::size_t begin, std::size_t end);
  void hosts(std::size_t begin, std::size_t end);
  void host(std::size_t begin, std::size_t end, bool sure);
  bool encoded_word(std::size_t begin, std::size_t end);
  void percent_encoded(std::size_t begin, std::size_t end);

  [[nodiscard]] std::string_view part(std::size_t begin, std::size_t end) const {
    return text_.substr(begin, end - begin);
  }
  [[nodiscard]] std::size_t skip_blanks(std::size_t at, std::size_t end) const {
    while (at < end && (text_[at] == ' ' || text_[at] == '\t')) ++at;
    return at;
  }
  /// The first of `bytes` from `at` on, or `end`: behind it nothing is searched, as a line may hold
  /// many values and be long.
  [[nodiscard]] std::size_t next_of(std::string_view bytes, std::size_t at, std::size_t end) const {
    return std::min(text_.substr(0, end).find_first_of(bytes, at), end);
  }
  void add_edit(Edit edit) {
    if (out_.size() >= k_most_edits) env_.work = 0;
    out_.push_back(std::move(edit));
  }
  Frame& frame() { return state_.frames.back(); }
  void push(char open, KeyClass inherited);
  static void as_pair(Frame& list);
  [[nodiscard]] std::string shown(std::string placeholder) const;

  static constexpr int k_deepest = 8;
  static constexpr int k_most_open_lines = 200;
  static constexpr std::size_t k_most_frames = 96;
  /// A line with more to mask than this (addresses by the hundred thousand) is masked from there
  /// on: what is noted of each takes more room than the line.
  static constexpr std::size_t k_most_edits = 400'000;

  Env& env_;
  ScanState& state_;
  std::string_view text_;
  Edits& out_;
  int depth_;
  bool line_end_;         ///< the end of `text_` is the end of a line of the file
  std::size_t base_ = 0;  ///< frames below belong to enclosing texts
  char quote_ = 0;        ///< around what is being looked into: must not appear in a replacement
};

/// Finds what is to be masked in a text of one or several lines, as a file of its own.
void scan_text(Env& env, std::string_view text, int depth, Edits& out);

}  // namespace triage::redact
