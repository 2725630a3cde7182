#include "bundle/sections.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace triage::bundle {
namespace {

using evidence::Kind;

constexpr std::size_t k_underscores = 40;
constexpr std::string_view k_dump_start = "==== START logs for container ";
constexpr std::string_view k_dump_end = "==== END logs for container ";

bool starts(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

bool is_ruler(std::string_view line) {
  return line.size() >= k_underscores && line.find_first_not_of('_') == std::string_view::npos;
}

/// `===== Section: NAME ====`, as rocm_techsupport.sh prints.
std::string_view rocm_title(std::string_view line) {
  constexpr std::string_view k_lead = "===== Section: ";
  if (!starts(line, k_lead)) return {};
  line.remove_prefix(k_lead.size());
  const auto end = line.find("====");
  return base::trim(end == std::string_view::npos ? line : line.substr(0, end));
}

enum class Border : std::uint8_t { none, starts_section, ends_section };

Border border_of(Sectioned form, std::string_view line) {
  switch (form) {
    case Sectioned::nvidia_bug_report:
      return is_ruler(line) ? Border::starts_section : Border::none;
    case Sectioned::rocm_techsupport:
      return rocm_title(line).empty() ? Border::none : Border::starts_section;
    case Sectioned::cluster_info_dump:
      if (starts(line, k_dump_start)) return Border::starts_section;
      return starts(line, k_dump_end) ? Border::ends_section : Border::none;
    case Sectioned::none:
      break;
  }
  return Border::none;
}

/// Gives the bytes of the source up to the next border line; holds one block and finds lines in it.
class SectionStream final : public ByteStream {
 public:
  SectionStream(Sectioned form, ByteStream& source)
      : form_(form), source_(source), block_(k_block) {}

  [[nodiscard]] std::size_t read(std::span<char> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size() && !at_border_) {
      if (safe_ == begin_ && !find_safe_end()) break;
      const std::size_t count = std::min(buffer.size() - filled, safe_ - begin_);
      std::copy_n(block_.begin() + static_cast<std::ptrdiff_t>(begin_), count,
                  buffer.begin() + static_cast<std::ptrdiff_t>(filled));
      lines_ += static_cast<std::uint64_t>(
          std::count(buffer.begin() + static_cast<std::ptrdiff_t>(filled),
                     buffer.begin() + static_cast<std::ptrdiff_t>(filled + count), '\n'));
      begin_ += count;
      filled += count;
    }
    return filled;
  }
  [[nodiscard]] const std::optional<std::string>& damage() const override {
    return source_.damage();
  }

  /// Skips what is left of the section; false at the end of the source.
  bool skip_to_border() {
    std::vector<char> waste(k_block);
    while (!at_border_ && read(waste) > 0) {
    }
    return at_border_;
  }
  /// The border line itself, without its end; the stream goes on behind it.
  std::string take_border() {
    at_border_ = false;
    return take_line();
  }
  /// The next line when the section has one.
  std::optional<std::string> take_title_line() {
    if (safe_ == begin_ && !find_safe_end()) return std::nullopt;
    return take_line();
  }
  [[nodiscard]] std::optional<std::string_view> peek_line() {
    if (at_border_ || (safe_ == begin_ && !find_safe_end())) return std::nullopt;
    const std::string_view rest(block_.data() + begin_, safe_ - begin_);
    return rest.substr(0, rest.find('\n'));
  }
  [[nodiscard]] std::uint64_t line() const { return lines_ + 1; }

 private:
  static constexpr std::size_t k_block = 128 * 1024;

  std::string take_line() {
    const std::string_view rest(block_.data() + begin_, end_ - begin_);
    const auto newline = rest.find('\n');
    std::string text(rest.substr(0, newline));
    begin_ += newline == std::string_view::npos ? rest.size() : newline + 1;
    if (newline != std::string_view::npos) ++lines_;
    safe_ = std::max(safe_, begin_);
    if (!text.empty() && text.back() == '\r') text.pop_back();
    return text;
  }

  /// Extends what may be delivered: whole lines that are no border. A line longer than the block is
  /// delivered in pieces: no border is that long.
  bool find_safe_end() {
    refill();
    if (begin_ == end_) return false;
    std::size_t at = begin_;
    while (at < end_) {
      const std::string_view rest(block_.data() + at, end_ - at);
      const auto newline = rest.find('\n');
      if (newline == std::string_view::npos && !ended_ && at > begin_) break;
      std::string_view line = rest.substr(0, newline);
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      if (!inside_line_ && border_of(form_, line) != Border::none) {
        at_border_ = at == begin_;
        safe_ = at;
        return !at_border_;
      }
      if (newline == std::string_view::npos) {
        inside_line_ = true;
        at = end_;
      } else {
        inside_line_ = false;
        at += newline + 1;
      }
    }
    safe_ = at;
    return true;
  }

  void refill() {
    const std::size_t left = end_ - begin_;
    if (left > 0 && ended_) return;
    std::copy(block_.begin() + static_cast<std::ptrdiff_t>(begin_),
              block_.begin() + static_cast<std::ptrdiff_t>(end_), block_.begin());
    begin_ = 0;
    safe_ = 0;
    end_ = left;
    while (end_ < block_.size() && !ended_) {
      const std::size_t got = source_.read(std::span<char>(block_).subspan(end_));
      end_ += got;
      if (got == 0) ended_ = true;
    }
  }

  Sectioned form_;
  ByteStream& source_;
  std::vector<char> block_;
  std::size_t begin_ = 0;
  std::size_t safe_ = 0;  ///< up to here no border stands
  std::size_t end_ = 0;
  std::uint64_t lines_ = 0;  ///< line ends before begin_
  bool ended_ = false;
  bool at_border_ = false;
  bool inside_line_ = false;
};

/// `==== START logs for container vllm of pod llm/vllm-0 ====`
void read_dump_border(std::string_view line, Section& section) {
  line.remove_prefix(std::min(line.size(), k_dump_start.size()));
  const auto words = base::split_blanks(line);
  if (words.size() < 4 || words[1] != "of" || words[2] != "pod") return;
  section.place.container = words[0];
  const auto slash = words[3].find('/');
  if (slash == std::string_view::npos) return;
  section.place.name_space = words[3].substr(0, slash);
  section.place.pod = words[3].substr(slash + 1);
  section.title = "logs of " + std::string(words[3]) + "/" + section.place.container;
  section.kind = Kind::container_log;
}

/// The titles of nvidia-bug-report.sh that say more than the content behind them.
std::optional<Kind> kind_of_title(std::string_view title) {
  if (starts(title, "dmesg") || base::contains(title, "kernel log files") ||
      base::contains(title, "/var/log/kern.log") || base::contains(title, "journalctl -k"))
    return Kind::kernel_log;
  if (base::contains(title, "fabricmanager") || base::contains(title, "imex"))
    return Kind::fabric_log;
  if (base::contains(title, "/var/log/messages") || base::contains(title, "/var/log/syslog") ||
      base::contains(title, "journalctl"))
    return Kind::system_log;
  return std::nullopt;
}

/// Titles and blank lines in front of a section's content.
void read_titles(SectionStream& stream, Section& section) {
  constexpr int k_most = 8;
  for (int i = 0; i < k_most; ++i) {
    const auto line = stream.peek_line();
    if (!line) return;
    const std::string_view text = base::trim(*line);
    const bool title = section.title.empty();
    if (!text.empty() && !title && !starts(text, "*** ls:")) return;
    if (title && starts(text, "*** ")) {
      section.title = text.substr(4);
    } else if (title && !text.empty()) {
      section.title = text;
    }
    (void)stream.take_title_line();
  }
}

}  // namespace

Sectioned sniff_sections(std::string_view head) {
  const std::string_view top = head.substr(0, 4096);
  if (base::contains(top, "Start of NVIDIA bug report log file"))
    return Sectioned::nvidia_bug_report;
  if (base::contains(top, "=== ROCm TechSupport Log Collection Utility"))
    return Sectioned::rocm_techsupport;
  // On stdout the objects come first and may fill the head. Only the dump prints a NodeList by its
  // typed name; `kubectl get nodes -o json` says List.
  if (base::contains(head.substr(0, 64), "\"kind\": \"NodeList\""))
    return Sectioned::cluster_info_dump;
  const auto at = head.find(k_dump_start);
  if (at != std::string_view::npos && (at == 0 || head[at - 1] == '\n'))
    return Sectioned::cluster_info_dump;
  return Sectioned::none;
}

void split_sections(Sectioned form, ByteStream& source,
                    const std::function<bool(const Section&, PeekStream&)>& visit) {
  SectionStream stream(form, source);
  Section section;
  bool skip = false;
  for (bool more = true; more;) {
    if (!skip) {
      if (form == Sectioned::nvidia_bug_report) {
        section.title.clear();
        read_titles(stream, section);
        section.kind = kind_of_title(section.title);
      }
      section.first_line = stream.line();
      if (stream.peek_line()) {
        PeekStream content(stream);
        if (!visit(section, content)) return;
      }
    }
    more = stream.skip_to_border();
    if (!more) break;
    const std::string border = stream.take_border();
    section = {};
    skip = border_of(form, border) == Border::ends_section;
    if (form == Sectioned::cluster_info_dump) read_dump_border(border, section);
    if (form == Sectioned::rocm_techsupport) section.title = rocm_title(border);
    // Objects may stand between and behind the log blocks.
    if (skip && form == Sectioned::cluster_info_dump) skip = false;
  }
}

}  // namespace triage::bundle
