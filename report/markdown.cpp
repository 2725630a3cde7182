#include "report/markdown.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/display.hpp"
#include "report/escape.hpp"
#include "report/words.hpp"

namespace triage::report {
namespace {

using analysis::Report;

// Room for the part that is always open; the folded details share the rest.
constexpr std::size_t k_head_limit = 24'000;
constexpr std::size_t k_names = 6;
constexpr std::size_t k_text_limit = 600;
constexpr std::size_t k_steps = 30;

/// Adds pieces while there is room; counts what is left out.
class Bounded {
 public:
  explicit Bounded(std::size_t limit) : limit_(limit) {}
  bool add(const std::string& piece) {
    if (left_out_ > 0 || text_.size() + piece.size() > limit_) {
      ++left_out_;
      return false;
    }
    text_ += piece;
    return true;
  }
  [[nodiscard]] std::size_t left_out() const { return left_out_; }
  [[nodiscard]] std::string take() { return std::move(text_); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::size_t limit_;
  std::size_t left_out_ = 0;
  std::string text_;
};

std::string prose(std::string_view text) {
  return markdown_text(visible(text, k_text_limit));
}

std::string code(std::string_view text, InTable in_table = InTable::no) {
  return markdown_code(visible(text, k_text_limit), in_table);
}

/// A log line below a citation.
std::string quoted(std::string_view text) {
  return markdown_fence(visible(text, k_text_limit * 2), "text");
}

std::string commands_fence(const std::vector<std::string>& commands) {
  std::string text;
  for (const auto& command : commands) text += base::shorten(command, k_text_limit * 2) + "\n";
  return markdown_fence(text, "sh");
}

std::string fact(std::string_view label, std::string_view value) {
  if (value.empty()) return {};
  return fmt::format(" · **{}** {}", label, code(value));
}

std::string verdict_line(const analysis::VerdictEntry& verdict) {
  std::string line = fmt::format("**cause** {}", code(verdict.cause));
  line += fact("confidence", verdict.confidence) + fact("severity", verdict.severity);
  line += fact("fault domain", verdict.fault_domain) + fact("scope", verdict.scope);
  return line + fact("pattern", verdict.pattern);
}

std::string cited_block(std::string_view label, const analysis::Cited& cited,
                        std::string_view behind) {
  std::string text = fmt::format("**{}** {}", label, code(cite(cited)));
  if (!cited.rank.empty()) text += " · rank " + code(cited.rank);
  if (!behind.empty()) text += " · " + prose(behind);
  return text + "\n\n" + quoted(cited.text) + "\n";
}

void add_verdict(Bounded& page, const Report& report) {
  const auto& verdict = report.verdict;
  const std::string title = visible(verdict.title, 200);
  page.add(fmt::format("## {}{}{}\n\n", markdown_text(class_label(verdict.class_)),
                       title.empty() ? "" : ": ", markdown_text(title)));
  page.add(verdict_line(verdict) + "\n\n");
  std::vector<std::string> where;
  for (const auto& words : where_words(verdict.entities, k_names)) where.push_back(code(words));
  if (!where.empty()) page.add("**where** " + base::join(where, " · ") + "\n\n");
  const auto& first = verdict.first_error;
  if (first) page.add(cited_block("first error", *first, time_words(first->time)));
  const auto& cuda = verdict.first_cuda_error;
  if (cuda && !(first && cuda->file == first->file && cuda->line == first->line))
    page.add(cited_block("first CUDA error", *cuda,
                         first ? distance_words(first->time, cuda->time) : ""));
  if (!report.loudest.empty()) page.add("**loudest** " + prose(report.loudest) + "\n\n");
  if (report.recurrence && !report.recurrence->note.empty())
    page.add("**before** " + prose(report.recurrence->note) + "\n\n");
  if (verdict.confidence != "high" && !verdict.confidence_reasons.empty()) {
    page.add("**why not surer**\n\n");
    for (const auto& reason : verdict.confidence_reasons) page.add("- " + prose(reason) + "\n");
    page.add("\n");
  }
}

void add_quarantine(Bounded& page, const Report& report) {
  const auto& hold = report.quarantine;
  const bool none = hold.target == "none" || hold.target.empty();
  if (none && outcome_of(report.verdict) != Outcome::fault) return;
  if (none) {
    page.add("### Hold out of service: nothing\n\n");
    if (!hold.reason.empty()) page.add(prose(hold.reason) + "\n\n");
    return;
  }
  page.add("### Hold out of service: " + code(quarantine_words(hold)) + "\n\n");
  if (!hold.reason.empty()) page.add("- why: " + prose(hold.reason) + "\n");
  if (!hold.lift_when.empty()) page.add("- lift when: " + prose(hold.lift_when) + "\n");
  page.add("\n");
  if (!hold.commands.empty()) page.add(commands_fence(hold.commands) + "\n");
}

std::string step_item(std::string_view marker, const analysis::NextStep& step) {
  std::string text = step.text.empty() ? std::string() : prose(step.text);
  if (!step.why.empty()) text += (text.empty() ? "" : " — ") + prose(step.why);
  std::string item = fmt::format("- {}{}\n", marker, text);
  if (!step.command.empty()) item += "\n" + commands_fence({step.command}) + "\n";
  return item;
}

void add_steps(Bounded& page, const Report& report) {
  std::size_t shown = 0;
  for (const std::string_view phase : step_phases()) {
    for (const auto* step : steps_of(report, phase)) {
      if (shown++ == 0) page.add("### Next\n\n");
      if (shown > k_steps) return;
      page.add(step_item(fmt::format("**{}** ", phase), *step));
    }
  }
  if (shown > 0) page.add("\n");
  const auto avoid = steps_of(report, "avoid");
  if (avoid.empty()) return;
  page.add("### Do not\n\n");
  for (std::size_t i = 0; i < avoid.size() && i < k_steps; ++i) page.add(step_item("", *avoid[i]));
  page.add("\n");
}

void add_others(Bounded& page, const Report& report) {
  if (report.other_incidents.empty()) return;
  page.add("### Also found, independent of the above\n\n");
  for (const auto& other : report.other_incidents) {
    std::string item =
        fmt::format("- {} ({})", prose(other.verdict.title), code(other.verdict.cause));
    if (other.verdict.first_error) item += " at " + code(cite(*other.verdict.first_error));
    if (other.quarantine.target != "none" && !other.quarantine.target.empty())
      item += " · hold out " + code(quarantine_words(other.quarantine));
    page.add(item + "\n");
  }
  page.add("\n");
}

void add_missing(Bounded& page, const Report& report) {
  if (report.missing_evidence.empty()) return;
  page.add("### What would settle it\n\n");
  for (const auto& item : report.missing_evidence) {
    std::string text = "- " + prose(item.what);
    if (!item.why.empty()) text += ": " + prose(item.why);
    if (!item.command.empty()) text += " — " + code(item.command);
    page.add(text + "\n");
  }
  page.add("\n");
}

/// Folded under a summary; left out when it has no rows. `rows` of one table or list.
class Folded {
 public:
  Folded(std::string summary, std::string head) : summary_(std::move(summary)) {
    rows_.push_back(std::move(head));
  }
  void row(std::string text) { rows_.push_back(std::move(text)); }
  void add_to(std::string& page, std::size_t limit) const {
    if (rows_.size() < 2) return;
    // 120: the closing tags and the line that says what is left out.
    const std::string open = "<details>\n<summary>" + summary_ + "</summary>\n\n";
    if (page.size() + open.size() + rows_[0].size() + 200 > limit) return;
    Bounded body(limit - page.size() - open.size() - 120);
    for (const auto& row : rows_) body.add(row);
    page += open + body.text() + "\n";
    if (body.left_out() > 0)
      page += fmt::format("{} more in the JSON and HTML reports.\n\n", body.left_out());
    page += "</details>\n\n";
  }

 private:
  std::string summary_;
  std::vector<std::string> rows_;
};

Folded chain(const Report& report) {
  Folded out("Causal chain",
             "| | role | cause | at | time | text | explains |\n"
             "|-|-|-|-|-|-|-|\n");
  for (std::size_t i = 0; i < report.causal_chain.size(); ++i) {
    const auto& link = report.causal_chain[i];
    std::vector<std::string> explains;
    for (const std::size_t index : link.explains) explains.push_back(std::to_string(index));
    out.row(fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", i, prose(link.role),
                        code(link.cause, InTable::yes), code(cite(link.at), InTable::yes),
                        time_words(link.at.time), code(visible(link.at.text, 200), InTable::yes),
                        list_words(explains, 12)));
  }
  return out;
}

Folded timeline(const Report& report) {
  Folded out("Timeline", "| time | role | at | place | text |\n|-|-|-|-|-|\n");
  // More rows than fit are never shown: do not format a hundred thousand.
  const std::size_t shown = std::min<std::size_t>(report.timeline.size(), 400);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& entry = report.timeline[i];
    out.row(fmt::format("| {} | {} | {} | {} | {} |\n", time_words(entry.at.time),
                        prose(entry.role), code(cite(entry.at), InTable::yes),
                        code(place_words(entry.place), InTable::yes),
                        code(visible(entry.at.text, 160), InTable::yes)));
  }
  return out;
}

Folded excerpts(const Report& report) {
  Folded out("Evidence", "\n");
  for (std::size_t i = 0; i < report.excerpts.size() && i < 40; ++i) {
    const auto& excerpt = report.excerpts[i];
    std::string lines;
    for (std::size_t n = 0; n < excerpt.lines.size(); ++n) {
      const std::size_t number = excerpt.first_line + n;
      lines += fmt::format("{} {:>6}  {}\n", number == excerpt.cited_line ? ">" : " ", number,
                           visible(excerpt.lines[n], 300));
    }
    out.row(code(cite(excerpt.file, excerpt.cited_line)) + "\n\n" + markdown_fence(lines, "text") +
            "\n");
  }
  return out;
}

Folded sections(const Report& report) {
  Folded out("Figures", "| | value | from |\n|-|-|-|\n");
  const auto add = [&out](std::string_view title, const std::optional<analysis::Section>& section) {
    if (!section) return;
    for (const auto& [name, sourced] : *section)
      out.row(fmt::format(
          "| {} {} | {} | {} |\n", title, code(name, InTable::yes),
          code(sourced.value, InTable::yes),
          code(sourced.file.empty() ? "" : cite(sourced.file, sourced.line), InTable::yes)));
  };
  add("memory", report.memory_budget);
  add("load", report.load);
  add("loading", report.loading);
  add("replicas", report.replicas);
  add("capacity", report.capacity);
  return out;
}

Folded environment(const Report& report) {
  Folded out("Environment", "| | |\n|-|-|\n");
  const auto row = [&out](std::string_view label, std::string_view value) {
    if (!value.empty())
      out.row(fmt::format("| {} | {} |\n", prose(label), code(value, InTable::yes)));
  };
  const auto& environment = report.environment;
  row("driver", environment.driver);
  row("CUDA", environment.cuda);
  row("engine", environment.engine.name);
  row("engine version", environment.engine.version);
  for (const auto& [name, value] : environment.engine.args) row("argument " + name, value);
  for (const auto& image : environment.images) row("image", image);
  for (const auto& gpu : environment.gpus) row("GPU", gpu_words(gpu) + " · " + gpu.name);
  for (const auto& [name, value] : environment.kubernetes) row(name, value);
  return out;
}

Folded coverage(const Report& report) {
  Folded out("Coverage", "| file | kind | lines |\n|-|-|-|\n");
  for (const auto& input : report.inputs)
    out.row(fmt::format("| {} | {} | {} |\n", code(input.path, InTable::yes), prose(input.kind),
                        input.lines));
  if (!report.coverage) return out;
  for (const auto& unread : report.coverage->unread)
    out.row(fmt::format("| {} | left out | |\n", code(unread, InTable::yes)));
  for (const auto& cluster : report.coverage->unmatched_errors)
    out.row(fmt::format("| {} | {} | no rule, {} times |\n",
                        code(cite(cluster.file, cluster.line), InTable::yes),
                        code(visible(cluster.example, 200), InTable::yes), cluster.count));
  return out;
}

void add_unmatched(Bounded& page, const Report& report) {
  if (outcome_of(report.verdict) != Outcome::unknown || !report.coverage) return;
  const auto& clusters = report.coverage->unmatched_errors;
  if (clusters.empty()) return;
  page.add("### Lines that look like errors and match no rule\n\n");
  for (std::size_t i = 0; i < clusters.size() && i < 5; ++i)
    page.add(fmt::format("{} · {} times\n\n{}\n", code(cite(clusters[i].file, clusters[i].line)),
                         clusters[i].count, quoted(clusters[i].example)));
}

void add_warnings(Bounded& page, const Report& report) {
  if (report.warnings.empty()) return;
  page.add("### Warnings\n\n");
  for (const auto& warning : report.warnings) page.add("- " + prose(warning) + "\n");
  page.add("\n");
}

}  // namespace

std::string render_markdown(const Report& report) {
  Bounded head(k_head_limit);
  add_verdict(head, report);
  add_quarantine(head, report);
  add_unmatched(head, report);
  add_steps(head, report);
  add_missing(head, report);
  add_others(head, report);
  add_warnings(head, report);
  std::string page = head.text();
  if (head.left_out() > 0) page += "More in the JSON and HTML reports.\n\n";
  // The last line has its room kept; no section may take more than what leaves the next a share.
  constexpr std::size_t k_room = k_markdown_limit - 200;
  chain(report).add_to(page, std::min(page.size() + 10'000, k_room));
  excerpts(report).add_to(page, std::min(page.size() + 10'000, k_room));
  sections(report).add_to(page, std::min(page.size() + 4'000, k_room));
  environment(report).add_to(page, std::min(page.size() + 4'000, k_room));
  coverage(report).add_to(page, std::min(page.size() + 4'000, k_room));
  timeline(report).add_to(page, k_room);
  if (!report.tool_version.empty())
    page += fmt::format("triage {}, rules {}\n", code(visible(report.tool_version, 40)),
                        code(visible(report.rules_digest, 40)));
  return page;
}

}  // namespace triage::report
