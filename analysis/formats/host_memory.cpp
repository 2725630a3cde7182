#include <array>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/formats/gpu_fact.hpp"
#include "base/text.hpp"

// /proc/meminfo, `free` (any unit), `df` of /dev/shm, and a cgroup's memory files; one file may
// hold several of them one after another. All of it becomes one fact.
namespace triage::analysis::formats {
namespace {

using evidence::Fact;

struct Name {
  std::string_view printed, field;
};
constexpr std::array<Name, 5> k_meminfo{{{"MemTotal", "mem.total"},
                                         {"MemAvailable", "mem.available"},
                                         {"MemFree", "mem.free"},
                                         {"SwapTotal", "swap.total"},
                                         {"SwapFree", "swap.free"}}};

/// `251Gi`, `1.0T`: free -h and df -h count in powers of two and may leave the `iB` off.
std::optional<double> human_bytes(std::string_view word) {
  if (word.empty()) return std::nullopt;
  std::string unit_word(word);
  const char last = word.back();
  if (last == 'T' || last == 'G' || last == 'M' || last == 'K') unit_word += "i";
  const auto value = base::parse_bytes(unit_word);
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

class MemoryReader {
 public:
  explicit MemoryReader(const ParseContext& context) {
    fact_.kind = context.kind;
    fact_.place = context.place;
  }

  void read(std::string_view text) {
    std::uint32_t number = 0;
    for (const std::string_view raw : base::split_lines(text)) {
      ++number;
      const std::string_view line = base::trim(raw);
      if (!line.empty() && line.front() != '$') read_line(line, number);
    }
    finish();
  }

  Fact& fact() { return fact_; }

 private:
  void set(std::string_view field, double value, std::uint32_t line) {
    if (value < 0 || value > 9e18) return;
    fact_.set(std::string(field), plain_number(value), line);
    if (fact_.line == 0) fact_.line = line;
  }

  void read_line(std::string_view line, std::uint32_t number) {
    const auto words = base::split_blanks(line);
    if (read_meminfo(line, words, number) || read_free(words, number) || read_df(words, number))
      return;
    read_cgroup(line, words, number);
  }

  /// `MemTotal:       1056789544 kB`
  bool read_meminfo(std::string_view line, const std::vector<std::string_view>& words,
                    std::uint32_t number) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || words.size() < 2) return false;
    for (const Name& name : k_meminfo) {
      if (line.substr(0, colon) != name.printed) continue;
      const auto value = base::parse_double(words[1]);
      if (value) set(name.field, *value * (words.size() > 2 ? 1024 : 1), number);
      return true;
    }
    return false;
  }

  /// `free`: the header names the columns, `-b`, `-m`, `-g`, `-h` the unit. Kibibytes by default.
  bool read_free(const std::vector<std::string_view>& words, std::uint32_t number) {
    if (words.size() >= 3 && words[0] == "total" && words[1] == "used") {
      free_columns_.assign(words.begin(), words.end());
      return true;
    }
    const bool memory = !words.empty() && words[0] == "Mem:";
    const bool swap = !words.empty() && words[0] == "Swap:";
    if (free_columns_.empty() || (!memory && !swap)) return false;
    for (std::size_t i = 0; i < free_columns_.size() && i + 1 < words.size(); ++i) {
      const auto value = free_value(words[i + 1]);
      if (!value) continue;
      const std::string_view column = free_columns_[i];
      if (column == "total") set(memory ? "mem.total" : "swap.total", *value, number);
      if (column == "free") set(memory ? "mem.free" : "swap.free", *value, number);
      if (memory && column == "available") set("mem.available", *value, number);
    }
    return true;
  }

  /// Without a unit the size tells it: no GPU host has less than a gibibyte, so a small total is
  /// not bytes.
  std::optional<double> free_value(std::string_view word) {
    if (const auto plain = base::parse_double(word)) {
      if (free_unit_ == 0)
        free_unit_ = *plain > 1.5e10    ? 1
                     : *plain > 500'000 ? 1024
                     : *plain > 4096    ? 1048576
                                        : 1073741824;
      return *plain * free_unit_;
    }
    return human_bytes(word);
  }

  /// `tmpfs  67108864  67108864  0 100% /dev/shm`, in the blocks that the header names.
  bool read_df(const std::vector<std::string_view>& words, std::uint32_t number) {
    if (!words.empty() && words[0] == "Filesystem") {
      df_block_ = 1024;
      for (const std::string_view word : words) {
        const std::size_t dash = word.find("-blocks");
        if (dash == std::string_view::npos) continue;
        const auto block = base::parse_bytes(word.substr(0, dash));
        // `1B-blocks` and `1K-blocks`; `1M-blocks` of df -m.
        if (block && *block > 0) df_block_ = static_cast<double>(*block);
      }
      return true;
    }
    if (words.size() < 5 || words.back() != "/dev/shm") return false;
    const std::size_t last = words.size() - 1;
    // Counted from the end: a device name may hold blanks.
    if (last < 4) return false;
    const auto size = df_value(words[last - 4]);
    const auto used = df_value(words[last - 3]);
    const auto left = df_value(words[last - 2]);
    if (size) set("shm.size", *size, number);
    if (used) set("shm.used", *used, number);
    if (left) set("shm.available", *left, number);
    return true;
  }

  std::optional<double> df_value(std::string_view word) const {
    if (const auto plain = base::parse_double(word)) return *plain * df_block_;
    return human_bytes(word);
  }

  /// `memory.max 137438953472`, `memory.max: max`, `memory.events` with its keys below, or a path
  /// before the value (`==> /sys/fs/cgroup/.../memory.peak <==`).
  void read_cgroup(std::string_view line, const std::vector<std::string_view>& words,
                   std::uint32_t number) {
    for (const auto& [file, field] : {std::pair{"memory.max", "cgroup.max"},
                                      {"memory.peak", "cgroup.peak"},
                                      {"memory.current", "cgroup.current"},
                                      {"memory.events", ""},
                                      {"memory.limit_in_bytes", "cgroup.max"},
                                      {"memory.max_usage_in_bytes", "cgroup.peak"},
                                      {"memory.usage_in_bytes", "cgroup.current"}}) {
      const std::size_t at = line.find(file);
      if (at == std::string_view::npos) continue;
      const char next = at + std::string_view(file).size() < line.size()
                            ? line[at + std::string_view(file).size()]
                            : ' ';
      if (next != ' ' && next != ':' && next != '=' && next != '\t') continue;
      cgroup_file_ = field;
      std::string_view value = words.back();
      if (const std::size_t equals = value.rfind('='); equals != std::string_view::npos)
        value = value.substr(equals + 1);
      set_cgroup(value, number);
      return;
    }
    if (words.size() == 1 && !cgroup_file_.empty()) set_cgroup(words[0], number);
    if (words.size() == 2) {
      const auto value = base::parse_double(words[1]);
      if (value && words[0] == "oom") set("cgroup.oom", *value, number);
      if (value && words[0] == "oom_kill") set("cgroup.oom_kill", *value, number);
    }
  }

  void set_cgroup(std::string_view word, std::uint32_t number) {
    const auto value = base::parse_double(word);
    if (!value || cgroup_file_.empty()) return;
    // The greatest page counter stands for "no limit" in cgroup v1.
    if (*value < 9.2e18) set(cgroup_file_, *value, number);
    cgroup_file_.clear();
  }

  void finish() {
    const evidence::Value* size = fact_.find("shm.size");
    const evidence::Value* used = fact_.find("shm.used");
    if (size == nullptr || used == nullptr) return;
    const double total = base::parse_double(size->text).value_or(0);
    if (total > 0)
      fact_.set("shm.used_percent",
                fmt::format("{:.1f}", 100 * base::parse_double(used->text).value_or(0) / total),
                used->line);
  }

  Fact fact_;
  std::vector<std::string> free_columns_;
  double free_unit_ = 0;
  double df_block_ = 1024;
  std::string cgroup_file_;
};

}  // namespace

void parse_host_memory(std::string_view text, const ParseContext& context,
                       const evidence::FactSink& sink) {
  MemoryReader reader(context);
  reader.read(text);
  if (!reader.fact().fields.empty()) sink(std::move(reader.fact()));
}

}  // namespace triage::analysis::formats
