#include "cli/collect_progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/process.hpp"
#include "base/text.hpp"

namespace triage::cli {
namespace {

std::size_t terminal_width() {
  winsize size{};
  constexpr std::size_t k_usual = 80;
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : k_usual;
}

/// Text from a cluster must not steer the terminal.
std::string harmless(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text;
}

std::string line_of(const collectors::Step& step) {
  std::string line = fmt::format("[{}/{}] {} {}", step.number, step.total, step.where, step.what);
  if (step.finished) {
    line += fmt::format("  {:.1f} s", static_cast<double>(step.duration.count()) / 1000.0);
    if (step.status != "ok")
      line += "  " + step.status + (step.reason.empty() ? "" : ": " + step.reason);
  }
  return harmless(line);
}

std::string harmless_lines(std::string text) {
  for (char& c : text)
    if (c != '\n' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)) c = ' ';
  return text;
}

}  // namespace

CollectProgress::CollectProgress(bool quiet) : quiet_(quiet), live_(::isatty(STDERR_FILENO) == 1) {}

void CollectProgress::show(const collectors::Step& step) {
  if (quiet_) return;
  if (live_) {
    const std::string line = base::shorten(line_of(step), terminal_width() - 1);
    std::fprintf(stderr, "\r\x1b[K%s", line.c_str());
    std::fflush(stderr);
    drawn_ = true;
  } else if (step.finished) {
    std::fprintf(stderr, "%s\n", base::shorten(line_of(step), 400).c_str());
  }
}

void CollectProgress::end() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
  drawn_ = false;
}

namespace {

/// Which evidence, of what: `logs-previous (chat-0/vllm, chat-1/vllm)`.
class Names {
 public:
  void add(const bundle::ManifestItem& row) {
    const evidence::Place& place = row.place;
    std::string subject = !place.pod.empty()
                              ? place.pod + (place.container.empty() ? "" : "/" + place.container)
                          : !place.workload.empty() ? place.workload
                          : !place.node.empty()     ? place.node
                                                    : place.name_space;
    subjects_[row.id].insert(std::move(subject));
  }
  [[nodiscard]] std::string text() const {
    constexpr std::size_t k_most_names = 4;
    std::vector<std::string> shown;
    for (const auto& [id, subjects] : subjects_) {
      if (shown.size() == k_most_names) break;
      const std::string of = few({subjects.begin(), subjects.end()});
      shown.push_back(of.empty() ? id : id + " (" + of + ")");
    }
    std::string text = base::join(shown, ", ");
    if (subjects_.size() > shown.size())
      text += fmt::format(" and {} more", subjects_.size() - shown.size());
    return text;
  }

 private:
  static std::string few(std::vector<std::string> names) {
    constexpr std::size_t k_most = 3;
    const std::size_t count = names.size();
    if (count > k_most) names.resize(k_most);
    return base::join(names, ", ") +
           (count > names.size() ? fmt::format(" and {} more", count - names.size()) : "");
  }
  std::map<std::string, std::set<std::string>> subjects_;  ///< by the item's id
};

/// Rows of one kind with their reason: `without  metrics-1 (chat-0): missing: ...`.
void add_lines(std::string& text, std::string_view head,
               const std::map<std::string, Names>& by_reason) {
  constexpr std::size_t k_most = 12;
  std::size_t shown = 0;
  for (const auto& [reason, names] : by_reason) {
    if (++shown > k_most) {
      text += fmt::format("{:8} and {} more reasons; manifest.json has all\n", head,
                          by_reason.size() - k_most);
      break;
    }
    text += fmt::format("{:8} {}: {}\n", head, names.text(), reason);
  }
}

}  // namespace

void print_summary(const collectors::Outcome& outcome, bool analyzed, const Context& context) {
  const auto& rows = outcome.manifest.items;
  std::size_t had = 0;
  // The same item of many pods and nodes for the same reason is one line.
  std::map<std::string, Names> missing;
  std::map<std::string, Names> partly;
  for (const auto& row : rows) {
    std::string reason = row.status;
    if (!row.reason.empty()) reason += ": " + base::shorten(row.reason, 110);
    if (row.path.empty()) {
      missing[reason].add(row);
      continue;
    }
    ++had;
    if (row.status != "ok") partly[reason].add(row);
    if (row.cut)
      partly[fmt::format("larger than its limit; {} left out",
                         base::format_bytes(static_cast<std::int64_t>(row.cut->dropped)))]
          .add(row);
  }
  std::string text;
  text += fmt::format("got      {} of {} pieces of evidence", had, rows.size());
  if (!outcome.manifest.complete)
    text += outcome.interrupted             ? "; interrupted"
            : outcome.manifest.deadline_hit ? "; the deadline came first"
                                            : "";
  text += "\n";
  add_lines(text, "in part", partly);
  add_lines(text, "without", missing);
  std::uint64_t masked = 0;
  for (const auto& [what, count] : outcome.manifest.redaction.totals) masked += count;
  text += fmt::format("masked   {} values; checked again after writing\n", masked);
  for (const auto& note : outcome.notes) text += "note     " + note + "\n";
  text += fmt::format("bundle   {}, {}\n", outcome.bundle.path,
                      base::format_bytes(static_cast<std::int64_t>(outcome.bundle.bytes)));
  if (!outcome.spool.empty())
    text += fmt::format("resume   {}   (or delete that directory)\n",
                        base::shell_words({"triage", "collect", "--resume", outcome.spool}));
  if (!analyzed)
    text += "next     " + base::shell_words({"triage", "analyze", outcome.bundle.path}) + "\n";
  text.pop_back();
  context.note(harmless_lines(text));
}

}  // namespace triage::cli
