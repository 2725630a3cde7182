#include "analysis/dating.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analysis/calendar.hpp"
#include "analysis/stamp_scan.hpp"
#include "base/text.hpp"
#include "evidence/fields.hpp"

namespace triage::analysis {
namespace {

using evidence::Stamp;
using evidence::Time;

constexpr std::int64_t k_second = 1'000'000'000;
constexpr std::int64_t k_minute = 60 * k_second;
constexpr std::int64_t k_hour = 60 * k_minute;
constexpr std::int64_t k_day = 24 * k_hour;

// What an assumption costs in uncertainty.
constexpr std::int64_t k_no_zone = k_second / 2;
constexpr std::int64_t k_no_year = k_second;
constexpr std::int64_t k_no_date = k_second;
constexpr std::int64_t k_borrowed_stamp = k_second;  // of the nearest stamped line before it
// `dmesg -T` adds a boot time that ignores suspend and clock steps.
constexpr std::int64_t k_dmesg_drift = 2 * k_second;
constexpr std::int64_t k_boot_known = k_second;        // btime and uptime -s are whole seconds
constexpr std::int64_t k_boot_by_twin = 2 * k_second;  // the other stream's daemon reads late
constexpr std::int64_t k_boot_by_xid = 30 * k_second;  // the device plugin polls

constexpr std::int64_t k_skew_corrected = k_second;
constexpr std::int64_t k_zone_step = 15 * k_minute;
constexpr std::int64_t k_zone_greatest = 14 * k_hour;

// Twins are looked for among the first stamps of a message in a file: enough for a consensus, and
// no quadratic work on storms.
constexpr std::size_t k_twins_per_message = 8;
constexpr std::size_t k_shortest_twin = 16;

/// One stamp with where its time goes.
struct Slot {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  const Stamp* stamp = nullptr;
  std::optional<Time>* out = nullptr;
  bool own = true;
};

struct Anchor {
  std::int64_t ns = 0;
  std::uint32_t file = 0;
  bool year_known = true;
  auto operator<=>(const Anchor&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14
};

bool nodes_agree(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() || a == b;
}

class Dater {
 public:
  Dater(std::vector<Observation>& observations, std::vector<evidence::Fact>& facts,
        std::vector<std::optional<Time>>& fact_times, std::vector<StreamInfo>& streams,
        const DatingOptions& options)
      : observations_(observations),
        facts_(facts),
        fact_times_(fact_times),
        streams_(streams),
        options_(options) {
    fact_times_.resize(facts_.size());
    for (StreamInfo& stream : streams_) by_file_.emplace(stream.file, &stream);
  }

  std::vector<std::string> run() {
    collect_slots();
    find_zones();
    date_complete_stamps();
    add_dates_of_facts();
    date_without_year();
    date_times_of_day();
    date_monotonic();
    return std::move(warnings_);
  }

 private:
  void collect_slots() {
    for (Observation& o : observations_) {
      if (o.stamp) slots_.push_back({o.file, o.line, &*o.stamp, &o.time, o.stamp_is_own});
      if (o.next_stamp) slots_.push_back({o.file, o.next_line, &*o.next_stamp, &o.not_after, true});
      if (o.last_stamp) slots_.push_back({o.file, o.last_line, &*o.last_stamp, &o.last_time, true});
    }
    for (std::size_t i = 0; i < facts_.size(); ++i)
      if (facts_[i].stamp)
        slots_.push_back(
            {facts_[i].file, facts_[i].line, &*facts_[i].stamp, &fact_times_[i], true});
    for (StreamInfo& stream : streams_) {
      if (stream.first)
        slots_.push_back({stream.file, 0, &*stream.first, &stream.first_time, true});
      if (stream.last)
        slots_.push_back({stream.file, UINT32_MAX, &*stream.last, &stream.last_time, true});
    }
    std::stable_sort(slots_.begin(), slots_.end(), [](const Slot& a, const Slot& b) {
      return std::tie(a.file, a.line) < std::tie(b.file, b.line);
    });
  }

  /// The slots of one base, file by file in line order.
  std::map<std::uint32_t, std::vector<Slot*>> slots_of(Stamp::Base base) {
    std::map<std::uint32_t, std::vector<Slot*>> files;
    for (Slot& slot : slots_)
      if (slot.stamp->base == base) files[slot.file].push_back(&slot);
    return files;
  }

  const StreamInfo* stream_of(std::uint32_t file) const {
    const auto it = by_file_.find(file);
    return it == by_file_.end() ? nullptr : it->second;
  }
  std::string node_of(std::uint32_t file) const {
    const StreamInfo* stream = stream_of(file);
    return stream == nullptr ? std::string() : stream->place.node;
  }
  std::string name_of(std::uint32_t file) const {
    const StreamInfo* stream = stream_of(file);
    return stream == nullptr || stream->path.empty() ? fmt::format("file {}", file + 1)
                                                     : stream->path;
  }

  // --- Zones ---

  std::int64_t zone_of(std::uint32_t file, std::int64_t local_ns) const {
    if (options_.zone) return options_.zone(local_ns);
    const auto it = zones_.find(file);
    return it == zones_.end() ? 0 : it->second;
  }

  /// Streams whose messages stand in a zoned stream of the node too show how far their clock's zone
  /// lies from UTC.
  void find_zones() {
    if (options_.zone) return;
    std::map<std::uint32_t, std::vector<std::int64_t>> differences;
    for_each_twin([&](const Observation& local, const Observation& zoned) {
      if (local.stamp->base == Stamp::Base::no_zone && zoned.stamp->base == Stamp::Base::utc)
        differences[local.file].push_back(local.stamp->ns - zoned.stamp->ns);
    });
    for (auto& [file, values] : differences) {
      const Vote vote = most_agreed(values, 10 * k_second);
      const std::int64_t steps =
          (vote.value + (vote.value < 0 ? -1 : 1) * k_zone_step / 2) / k_zone_step;
      const std::int64_t offset = steps * k_zone_step;
      if (offset == 0 || distance(offset, 0) > k_zone_greatest ||
          distance(vote.value, offset) > 10 * k_second)
        continue;
      zones_[file] = offset;
      warnings_.push_back(fmt::format(
          "{}: its clock reads {}{:02}:{:02} against UTC, going by the same messages in "
          "another file",
          name_of(file), offset < 0 ? "-" : "+", distance(offset, 0) / k_hour,
          distance(offset, 0) / k_minute % 60));
    }
  }

  /// Shows every pair of observations of the same text in different files of one node.
  template <class Visit>
  void for_each_twin(Visit visit) {
    std::map<std::string_view, std::vector<const Observation*>> messages;
    std::map<std::pair<std::string_view, std::uint32_t>, std::size_t> counts;
    for (const Observation& o : observations_) {
      if (!o.stamp || !o.stamp_is_own || o.text.size() < k_shortest_twin) continue;
      if (counts[{o.text, o.file}]++ < k_twins_per_message) messages[o.text].push_back(&o);
    }
    for (const auto& [text, all] : messages) {
      if (all.size() > 256) continue;  // a line that everyone prints is no twin
      for (const Observation* a : all)
        for (const Observation* b : all)
          if (a->file != b->file && nodes_agree(a->place.node, b->place.node)) visit(*a, *b);
    }
  }

  // --- Complete stamps ---

  /// Writes a time: zone and skew are taken off here.
  void resolve(Slot& slot, std::int64_t ns, std::int64_t uncertainty, bool year_known = true) {
    Time time;
    time.uncertainty_ns = slot.stamp->resolution_ns + uncertainty;
    if (!slot.own) time.uncertainty_ns += k_borrowed_stamp;
    time.year_known = year_known;
    const Stamp::Base base = slot.stamp->base;
    if (base != Stamp::Base::utc && base != Stamp::Base::monotonic) ns -= zone_of(slot.file, ns);
    if (const StreamInfo* stream = stream_of(slot.file); stream && stream->clock_skew_ns) {
      // A manifest is evidence too, and may be damaged: beyond ten years nothing is believed.
      const std::int64_t skew =
          distance(*stream->clock_skew_ns, 0) < 3650 * k_day ? *stream->clock_skew_ns : 0;
      if (distance(skew, 0) >= k_skew_corrected)
        ns -= skew;
      else
        time.uncertainty_ns += distance(skew, 0);
    }
    time.ns = ns;
    *slot.out = time;
  }

  /// Adds dated evidence. Stamps within an hour of the file's one before say nothing new.
  void add_anchor(std::uint32_t file, const Time& time) {
    if (!anchors_.empty() && anchors_.back().file == file &&
        distance(anchors_.back().ns, time.ns) < k_hour)
      return;
    anchors_.push_back({time.ns, file, time.year_known});
  }

  void date_complete_stamps() {
    for (Slot& slot : slots_) {
      if (slot.stamp->base == Stamp::Base::utc) resolve(slot, slot.stamp->ns, 0);
      if (slot.stamp->base != Stamp::Base::no_zone) continue;
      const StreamInfo* stream = stream_of(slot.file);
      const bool kernel = stream != nullptr && stream->kind == evidence::Kind::kernel_log;
      const std::int64_t zone = options_.zone ? 0 : k_no_zone;
      resolve(slot, slot.stamp->ns, zone + (kernel ? k_dmesg_drift : 0));
    }
    for (const Slot& slot : slots_)
      if (*slot.out) add_anchor(slot.file, **slot.out);
    sort_anchors();
    warn_of_skew();
  }

  void warn_of_skew() {
    std::set<std::string> said;
    for (const StreamInfo& stream : streams_)
      if (stream.clock_skew_ns && distance(*stream.clock_skew_ns, 0) >= k_skew_corrected &&
          said.insert(stream.place.node).second)
        warnings_.push_back(fmt::format(
            "the clock of {} was {} {} when the bundle was collected; its times are corrected",
            stream.place.node.empty() ? name_of(stream.file) : stream.place.node,
            base::format_duration_ns(distance(*stream.clock_skew_ns, 0)),
            *stream.clock_skew_ns > 0 ? "ahead" : "behind"));
  }

  /// Dates that objects carry besides their own time (creation, container start) help with years.
  void add_dates_of_facts() {
    constexpr std::size_t enough = 4096;
    std::size_t added = 0;
    for (const evidence::Fact& fact : facts_) {
      if (added >= enough) break;
      // Prometheus clients write when a counter or the process began, as seconds since 1970.
      if (fact.kind == evidence::Kind::metrics) {
        const std::string name = fact.get("name");
        const bool began = name == "process_start_time_seconds" ||
                           (name.size() > 8 && name.substr(name.size() - 8) == "_created");
        const auto value = began ? parse_any_stamp(fact.get("value")) : std::nullopt;
        if (value) anchors_.push_back({value->ns, fact.file, true}), ++added;
        continue;
      }
      if (fact.kind != evidence::Kind::pod && fact.kind != evidence::Kind::event &&
          fact.kind != evidence::Kind::node && fact.kind != evidence::Kind::model)
        continue;
      for (const evidence::Field& field : evidence::fields_of(fact.kind)) {
        if (field.type != evidence::FieldType::time) continue;
        const evidence::Value* value = fact.find(field.name);
        const auto stamp = value == nullptr ? std::nullopt : parse_any_stamp(value->text);
        // A StartError has the start time 1970-01-01.
        if (!stamp || stamp->base != Stamp::Base::utc || stamp->ns < k_day) continue;
        anchors_.push_back({stamp->ns, fact.file, true});
        ++added;
      }
    }
    sort_anchors();
  }

  void sort_anchors() { std::sort(anchors_.begin(), anchors_.end()); }

  /// How far the nearest dated evidence is; one's own file counts as nearer than any other.
  std::int64_t nearest(std::int64_t ns, std::uint32_t file) const {
    std::int64_t best = INT64_MAX;
    const auto after = std::lower_bound(anchors_.begin(), anchors_.end(), Anchor{ns, 0, false});
    if (after != anchors_.end()) best = distance(after->ns, ns);
    if (after != anchors_.begin()) best = std::min(best, distance(std::prev(after)->ns, ns));
    if (const auto own = own_anchors_.find(file); own != own_anchors_.end())
      for (const std::int64_t anchor : own->second) best = std::min(best, distance(anchor, ns) / 4);
    return best;
  }

  // --- Without year ---

  /// How many years before its stream's newest stamp each stamp lies: the year turns where stamps
  /// fall back by more than half a year.
  static std::vector<int> years_back(const std::vector<Slot*>& slots) {
    constexpr std::int64_t half = 182 * k_day;
    std::vector<int> years(slots.size());
    int year = 0;
    std::int64_t newest = slots.front()->stamp->ns;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const std::int64_t ns = slots[i]->stamp->ns;
      if (ns < newest - half) {
        ++year;
        newest = ns;
      }
      // A stray December line behind the turn belongs to the old year.
      years[i] = ns > newest + half && year > 0 ? year - 1 : year;
      if (years[i] == year) newest = std::max(newest, ns);
    }
    for (int& y : years) y = year - y;
    return years;
  }

  void date_without_year() {
    std::map<std::uint32_t, std::vector<Slot*>> files = slots_of(Stamp::Base::no_year);
    if (files.empty()) return;
    for (const Slot& slot : slots_)
      if (*slot.out && files.count(slot.file) > 0) {
        auto& own = own_anchors_[slot.file];
        if (own.size() < 64) own.push_back((*slot.out)->ns);
      }
    const bool known = options_.year.has_value() || !anchors_.empty();
    if (!known)
      warnings_.push_back("no evidence names a year: times are without one (--year YEAR gives it)");
    for (auto& [file, slots] : files) {
      const std::vector<int> back = years_back(slots);
      const std::int64_t year = choose_year(slots, back, file);
      for (std::size_t i = 0; i < slots.size(); ++i) {
        const std::int64_t ns = slots[i]->stamp->ns;
        const auto dated = in_year(ns, year - back[i]);
        // 29 February of a common year cannot be right: the day after keeps the order.
        resolve(*slots[i], dated.value_or(in_year(ns + k_day, year - back[i]).value_or(ns)),
                (options_.zone ? 0 : k_no_zone) + k_no_year, known);
      }
      // With no date anywhere the first such stream is what the others are placed against.
      if (!known) {
        add_anchor(file, **slots.front()->out);
        add_anchor(file, **slots.back()->out);
        sort_anchors();
      }
    }
    if (known && anchors_.empty())
      for (const auto& [file, slots] : files) add_anchor(file, **slots.back()->out);
    sort_anchors();
  }

  std::int64_t choose_year(const std::vector<Slot*>& slots, const std::vector<int>& back,
                           std::uint32_t file) const {
    if (options_.year) return *options_.year;
    if (anchors_.empty()) return 1972;
    const std::int64_t from = evidence::year_of(anchors_.front().ns) - 1;
    const std::int64_t to = evidence::year_of(anchors_.back().ns) + 1;
    std::int64_t best_year = from;
    std::int64_t best_distance = INT64_MAX;
    for (std::int64_t year = from; year <= to; ++year)
      for (const std::size_t i : {std::size_t{0}, slots.size() - 1}) {
        const auto ns = in_year(slots[i]->stamp->ns, year - back[i]);
        if (!ns) continue;
        const std::int64_t far = nearest(*ns, file);
        if (far < best_distance) best_distance = far, best_year = year;
      }
    return best_year;
  }

  // --- Time of day only ---

  void date_times_of_day() {
    for (auto& [file, slots] : slots_of(Stamp::Base::no_date)) {
      if (anchors_.empty()) {
        warnings_.push_back(fmt::format(
            "{}: its stamps have no date and nothing else is dated: only line order counts",
            name_of(file)));
        continue;
      }
      std::vector<std::int64_t> days(slots.size());
      std::int64_t day = 0;
      for (std::size_t i = 1; i < slots.size(); ++i) {
        // Midnight: back by more than half a day.
        if (slots[i]->stamp->ns < slots[i - 1]->stamp->ns - k_day / 2) ++day;
        days[i] = day;
      }
      // The day that brings the newest stamp nearest to dated evidence.
      const std::int64_t last = slots.back()->stamp->ns + days.back() * k_day;
      std::int64_t best_day = 0;
      std::int64_t best_distance = INT64_MAX;
      for (const Anchor& anchor : anchors_) {
        const std::int64_t around = (anchor.ns - last) / k_day;
        for (std::int64_t candidate = around - 1; candidate <= around + 1; ++candidate) {
          const std::int64_t far = distance(last + candidate * k_day, anchor.ns);
          if (far < best_distance) best_distance = far, best_day = candidate;
        }
      }
      const bool known = anchors_.front().year_known;
      for (std::size_t i = 0; i < slots.size(); ++i)
        resolve(*slots[i], slots[i]->stamp->ns + (best_day + days[i]) * k_day,
                k_no_zone + k_no_date, known);
    }
  }

  // --- Since boot ---

  struct Boot {
    std::int64_t ns = 0;
    std::int64_t uncertainty = 0;
    bool year_known = true;
  };

  void date_monotonic() {
    auto files = slots_of(Stamp::Base::monotonic);
    if (files.empty()) return;
    std::map<std::uint32_t, Boot> twins = boots_by_twin();
    std::map<std::uint32_t, Boot> xids = boots_by_xid();
    std::vector<std::uint32_t> undated;
    for (auto& [file, slots] : files) {
      const auto boot = boot_of(file, twins, xids);
      if (!boot) {
        undated.push_back(file);
        continue;
      }
      for (Slot* slot : slots)
        resolve(*slot, boot->ns + slot->stamp->ns, boot->uncertainty, boot->year_known);
    }
    for (const std::uint32_t file : undated)
      warnings_.push_back(fmt::format(
          "{}: its stamps count from a boot that nothing dates (--boot-time TIME gives it)",
          name_of(file)));
  }

  /// Between 1970 and 2200: sums with stamps do not overflow.
  static bool is_plausible(std::int64_t ns) {
    return ns > 0 && ns < std::int64_t{230} * 366 * k_day;
  }

  std::optional<Boot> boot_of(std::uint32_t file, const std::map<std::uint32_t, Boot>& twins,
                              const std::map<std::uint32_t, Boot>& xids) const {
    if (options_.boot_time_ns && is_plausible(*options_.boot_time_ns))
      return Boot{*options_.boot_time_ns, k_boot_known, true};
    const StreamInfo* stream = stream_of(file);
    if (stream != nullptr && stream->boot_time_ns && is_plausible(*stream->boot_time_ns))
      return Boot{*stream->boot_time_ns, k_boot_known, true};
    for (const evidence::Fact& fact : facts_) {
      if (fact.kind != evidence::Kind::environment || fact.get("key") != "boot_time") continue;
      if (!nodes_agree(fact.place.node, node_of(file))) continue;
      const auto stamp = parse_any_stamp(fact.get("value"));
      if (!stamp) continue;
      if (stamp->base == Stamp::Base::utc) return Boot{stamp->ns, k_boot_known, true};
      if (stamp->base == Stamp::Base::no_zone)
        return Boot{stamp->ns - zone_of(file, stamp->ns), k_boot_known + k_no_zone, true};
    }
    if (const auto it = twins.find(file); it != twins.end()) return it->second;
    if (const auto it = xids.find(file); it != xids.end()) return it->second;
    return std::nullopt;
  }

  static std::map<std::uint32_t, Boot> agreed(
      const std::map<std::uint32_t, std::vector<std::int64_t>>& values, std::int64_t uncertainty,
      bool year_known) {
    std::map<std::uint32_t, Boot> boots;
    for (const auto& [file, boot_times] : values) {
      const Vote vote = most_agreed(boot_times, uncertainty);
      // Repeats of one message pair up wrongly too: the right pairs must outvote each other one.
      if (vote.votes * 2 >= boot_times.size() || vote.votes >= 3)
        boots[file] = {vote.value, uncertainty, year_known};
    }
    return boots;
  }

  /// A message that stands in a monotonic and in a dated stream of the node gives the boot time.
  std::map<std::uint32_t, Boot> boots_by_twin() {
    std::map<std::uint32_t, std::vector<std::int64_t>> values;
    bool known = true;
    for_each_twin([&](const Observation& since_boot, const Observation& dated) {
      if (since_boot.stamp->base != Stamp::Base::monotonic || !dated.time) return;
      if (dated.stamp->base == Stamp::Base::monotonic) return;
      values[since_boot.file].push_back(dated.time->ns - since_boot.stamp->ns);
      known = known && dated.time->year_known;
    });
    return agreed(values, k_boot_by_twin, known);
  }

  /// The device plugin names the Xid of the kernel log within seconds: a last resort.
  std::map<std::uint32_t, Boot> boots_by_xid() {
    std::map<std::string_view, std::vector<const Observation*>> kernel;
    std::map<std::string_view, std::vector<const Observation*>> dated;
    for (const Observation& o : observations_) {
      const auto xid = o.captures.find("xid");
      if (xid == o.captures.end() || !o.stamp || !o.stamp_is_own) continue;
      auto& list =
          o.stamp->base == Stamp::Base::monotonic ? kernel[xid->second] : dated[xid->second];
      if (list.size() < k_twins_per_message) list.push_back(&o);
    }
    std::map<std::uint32_t, std::vector<std::int64_t>> values;
    bool known = true;
    for (const auto& [xid, list] : kernel) {
      const auto other = dated.find(xid);
      if (other == dated.end()) continue;
      for (const Observation* a : list)
        for (const Observation* b : other->second) {
          if (!b->time || !nodes_agree(a->place.node, b->place.node)) continue;
          values[a->file].push_back(b->time->ns - a->stamp->ns);
          known = known && b->time->year_known;
        }
    }
    return agreed(values, k_boot_by_xid, known);
  }

  std::vector<Observation>& observations_;
  std::vector<evidence::Fact>& facts_;
  std::vector<std::optional<Time>>& fact_times_;
  std::vector<StreamInfo>& streams_;
  const DatingOptions& options_;
  std::map<std::uint32_t, StreamInfo*> by_file_;
  std::vector<Slot> slots_;
  std::vector<Anchor> anchors_;  ///< sorted by time
  std::map<std::uint32_t, std::vector<std::int64_t>> own_anchors_;
  std::map<std::uint32_t, std::int64_t> zones_;  ///< local time minus UTC, by file
  std::vector<std::string> warnings_;
};

}  // namespace

std::vector<std::string> date_evidence(std::vector<Observation>& observations,
                                       std::vector<evidence::Fact>& facts,
                                       std::vector<std::optional<Time>>& fact_times,
                                       std::vector<StreamInfo>& streams,
                                       const DatingOptions& options) {
  return Dater(observations, facts, fact_times, streams, options).run();
}

}  // namespace triage::analysis
