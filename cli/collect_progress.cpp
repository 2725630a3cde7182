#include "cli/collect_progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <map>

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

void print_summary(const collectors::Outcome& outcome, const Context& context) {
  const auto& rows = outcome.manifest.items;
  std::size_t had = 0;
  // The same item of many pods and nodes for the same reason is one line.
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> missing;
  for (const auto& row : rows) {
    if (!row.path.empty() && row.status == "ok") {
      ++had;
      continue;
    }
    std::string reason = row.status;
    if (!row.reason.empty()) reason += ": " + base::shorten(row.reason, 110);
    missing[{reason, row.place.node}].push_back(row.id);
  }
  std::string text;
  text += fmt::format("got      {} of {} pieces of evidence", had, rows.size());
  if (!outcome.manifest.complete)
    text += outcome.interrupted             ? "; interrupted"
            : outcome.manifest.deadline_hit ? "; the deadline came first"
                                            : "";
  text += "\n";
  constexpr std::size_t k_most = 12;
  std::size_t shown = 0;
  for (const auto& [key, ids] : missing) {
    if (++shown > k_most) {
      text += fmt::format("without  and {} more reasons; manifest.json has all\n",
                          missing.size() - k_most);
      break;
    }
    std::vector<std::string> names = ids;
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    const std::size_t count = names.size();
    if (names.size() > 4) names.resize(4);
    text +=
        fmt::format("without  {}{}{}: {}\n", base::join(names, ", "),
                    count > names.size() ? fmt::format(" and {} more", count - names.size()) : "",
                    key.second.empty() ? "" : " (" + key.second + ")", key.first);
  }
  std::uint64_t masked = 0;
  for (const auto& [what, count] : outcome.manifest.redaction.totals) masked += count;
  text += fmt::format("masked   {} values; checked again after writing\n", masked);
  for (const auto& note : outcome.notes) text += "note     " + note + "\n";
  text += fmt::format("bundle   {}, {}\n", outcome.bundle.path,
                      base::format_bytes(static_cast<std::int64_t>(outcome.bundle.bytes)));
  if (!outcome.spool.empty())
    text += fmt::format("resume   triage collect --resume {}   (or delete that directory)\n",
                        outcome.spool);
  text += fmt::format("next     triage analyze {}", outcome.bundle.path);
  context.note(harmless_lines(text));
}

}  // namespace triage::cli
