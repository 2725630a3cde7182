#include "report/html_data.hpp"

#include <zlib.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "report/base64.hpp"
#include "report/display.hpp"
#include "report/json_writer.hpp"

namespace triage::report {
namespace {

using analysis::ObservationEntry;
using analysis::Report;

/// Texts numbered in the order in which they first come.
class Table {
 public:
  std::size_t index_of(const std::string& text) {
    const auto [found, is_new] = index_.emplace(text, texts_.size());
    if (is_new) texts_.push_back(text);
    return found->second;
  }
  void write(JsonWriter& out, std::string_view name) const {
    out.key(name).begin_array();
    for (const std::string& text : texts_) out.text(visible(text, 400));
    out.end_array();
  }

 private:
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<std::string> texts_;
};

std::string gpu_name(const evidence::Place& place) {
  if (!place.pci.empty()) return place.pci;
  if (!place.gpu_uuid.empty()) return place.gpu_uuid;
  return place.gpu_index.empty() ? std::string() : "GPU " + place.gpu_index;
}

/// Places are told apart by what the page shows of them.
class Places {
 public:
  std::size_t index_of(const ObservationEntry& seen) {
    const std::string& rank = seen.at.rank.empty() ? seen.place.rank : seen.at.rank;
    const std::vector<std::string> parts{seen.place.node, seen.place.pod, rank,
                                         gpu_name(seen.place)};
    std::string key;
    for (const auto& part : parts) key += part + '\n';
    const auto [found, is_new] = index_.emplace(key, places_.size());
    if (is_new) places_.push_back(parts);
    return found->second;
  }
  void write(JsonWriter& out) const {
    out.key("places").begin_array();
    for (const auto& parts : places_)
      out.begin_object()
          .member("node", visible(parts[0], 200))
          .member("pod", visible(parts[1], 200))
          .member("rank", visible(parts[2], 40))
          .member("gpu", visible(parts[3], 80))
          .end_object();
    out.end_array();
  }

 private:
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<std::vector<std::string>> places_;
};

/// Microseconds from `start_ns`, as a double: stamps of hostile logs may be centuries apart.
void write_time(JsonWriter& out, const std::optional<evidence::Time>& time, std::int64_t start_ns) {
  if (!time) {
    out.null();
    return;
  }
  const std::int64_t microseconds = (written_ns(*time) - start_ns) / 1000;
  out.number(static_cast<double>(microseconds));
}

std::int64_t start_of(const Report& report, std::size_t count) {
  std::int64_t start = INT64_MAX;
  for (std::size_t i = 0; i < count; ++i)
    if (const auto& time = report.observations[i].at.time)
      start = std::min(start, written_ns(*time));
  for (const auto& link : report.causal_chain)
    if (link.at.time) start = std::min(start, written_ns(*link.at.time));
  // Whole seconds, and never below zero: differences of two stamps then fit 64 bits.
  return start == INT64_MAX || start < 0 ? 0 : start / 1'000'000'000 * 1'000'000'000;
}

template <class Value>
void write_column(JsonWriter& out, std::string_view name, const Report& report, std::size_t count,
                  Value value) {
  out.key(name).begin_array();
  for (std::size_t i = 0; i < count; ++i) value(report.observations[i]);
  out.end_array();
}

void write_chain(JsonWriter& out, const Report& report, std::int64_t start) {
  out.key("chain").begin_array();
  for (std::size_t i = 0; i < report.causal_chain.size(); ++i) {
    const auto& link = report.causal_chain[i];
    const bool known = link.role == "root" || link.role == "symptom";
    out.begin_object().key("index").unsigned_integer(i);
    out.member("role", known ? link.role : "context").key("time");
    write_time(out, link.at.time, start);
    out.end_object();
  }
  out.end_array();
}

std::string to_json(const Report& report, std::size_t count) {
  Table rules, classes, roles, files, texts;
  Places places;
  JsonWriter out(0);
  const std::int64_t start = start_of(report, count);
  out.begin_object().key("n").unsigned_integer(count).key("t0").integer(start / 1'000'000);
  const auto indexed = [&](std::string_view name, Table& table, auto member) {
    write_column(out, name, report, count, [&](const ObservationEntry& seen) {
      out.unsigned_integer(table.index_of(member(seen)));
    });
  };
  indexed("rule", rules, [](const ObservationEntry& seen) { return seen.rule; });
  indexed("class", classes, [](const ObservationEntry& seen) { return seen.class_; });
  // The role is a class name in the page: nothing but the three words may come through.
  indexed("role", roles, [](const ObservationEntry& seen) {
    return seen.role == "root" || seen.role == "symptom" ? seen.role : std::string("context");
  });
  indexed("file", files, [](const ObservationEntry& seen) { return seen.at.file; });
  indexed("text", texts, [](const ObservationEntry& seen) { return seen.at.text; });
  write_column(out, "place", report, count,
               [&](const ObservationEntry& seen) { out.unsigned_integer(places.index_of(seen)); });
  write_column(out, "line", report, count,
               [&](const ObservationEntry& seen) { out.unsigned_integer(seen.at.line); });
  write_column(out, "count", report, count,
               [&](const ObservationEntry& seen) { out.unsigned_integer(seen.count); });
  write_column(out, "time", report, count,
               [&](const ObservationEntry& seen) { write_time(out, seen.at.time, start); });
  write_column(out, "unsure", report, count, [&](const ObservationEntry& seen) {
    out.integer(seen.at.time ? seen.at.time->uncertainty_ns / 1'000'000 : 0);
  });
  rules.write(out, "rules");
  classes.write(out, "classes");
  roles.write(out, "roles");
  files.write(out, "files");
  texts.write(out, "texts");
  places.write(out);
  write_chain(out, report, start);
  out.end_object();
  return out.take();
}

std::string compress(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string out(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                               reinterpret_cast<const Bytef*>(text.data()), text.size(), 6);
  out.resize(status == Z_OK ? size : 0);
  return out;
}

}  // namespace

PackedData pack_observations(const Report& report) {
  // Above it even an empty text a row would be too much for a browser.
  std::size_t count = std::min<std::size_t>(report.observations.size(), 400'000);
  while (true) {
    std::string base64 = to_base64(compress(to_json(report, count)));
    if (base64.size() <= k_packed_limit || count == 0) return {std::move(base64), count};
    count /= 2;
  }
}

}  // namespace triage::report
