#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/derive/derivers.hpp"
#include "analysis/line_prefix.hpp"
#include "base/text.hpp"

namespace triage::analysis::derive {
namespace {

using evidence::Fact;

// Requests followed at once; beyond it ids are sampled by their hash, so that memory stays at a few
// MiB whatever the log's length while attempts per request stay true.
constexpr std::size_t k_most_requests = 100'000;

bool hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// 36 characters 8-4-4-4-12 at `at`.
bool is_uuid(std::string_view line, std::size_t at) {
  if (at + 36 > line.size()) return false;
  for (std::size_t i = 0; i < 36; ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? line[at + i] != '-' : !hex(line[at + i])) return false;
  }
  return true;
}

/// A text to look for, and which of its letters is rare in access lines: the search goes from one
/// of these to the next.
struct Text {
  std::string_view text;
  std::size_t rare;

  constexpr Text(std::string_view all, char letter) : text(all), rare(all.find(letter)) {}
};

std::size_t find_text(std::string_view line, const Text& what) {
  for (std::size_t at = line.find(what.text[what.rare], what.rare); at != std::string_view::npos;
       at = line.find(what.text[what.rare], at + 1)) {
    const std::size_t begin = at - what.rare;
    if (line.compare(begin, what.text.size(), what.text) == 0) return begin;
  }
  return std::string_view::npos;
}

/// The value behind `key` and `=`, `:`, quotes.
std::string_view value_of(std::string_view line, const Text& key) {
  const std::size_t at = find_text(line, key);
  if (at == std::string_view::npos) return {};
  std::size_t begin = at + key.text.size();
  while (begin < line.size() && (line[begin] == '"' || line[begin] == ':' || line[begin] == '=' ||
                                 line[begin] == ' ' || line[begin] == '\\'))
    ++begin;
  std::size_t end = begin;
  while (end < line.size() && line[end] != '"' && line[end] != ' ' && line[end] != ',' &&
         line[end] != '}' && line[end] != '\\')
    ++end;
  return line.substr(begin, end - begin);
}

/// The id that all attempts of one request share: a named field, an UUID (Envoy, Istio), or the 32
/// hexadecimal digits that end ingress-nginx's line.
std::string_view request_id(std::string_view line) {
  static constexpr std::array<Text, 6> k_keys{{{"request_id", 'q'},
                                               {"requestId", 'q'},
                                               {"x-request-id", 'x'},
                                               {"x_request_id", 'x'},
                                               {"req_id", 'q'},
                                               {"request-id", 'q'}}};
  for (const Text& key : k_keys)
    if (const std::string_view id = value_of(line, key); id.size() >= 6) return id;
  for (std::size_t at = line.find('-', 8); at != std::string_view::npos;
       at = line.find('-', at + 1))
    if (is_uuid(line, at - 8)) return line.substr(at - 8, 36);
  const std::string_view text = base::trim(line);
  if (text.size() >= 32) {
    const std::string_view tail = text.substr(text.size() - 32);
    bool all = text.size() == 32 || text[text.size() - 33] == ' ';
    for (char c : tail) all = all && hex(c);
    if (all) return tail;
  }
  return {};
}

/// The response status of an access line, or 0.
int status_of(std::string_view line) {
  const auto three = [](std::string_view text) {
    if (text.size() < 3) return 0;
    const auto number = base::parse_int(text.substr(0, 3));
    const bool ends = text.size() == 3 || text[3] < '0' || text[3] > '9';
    return number && ends && *number >= 100 && *number < 600 ? static_cast<int>(*number) : 0;
  };
  static constexpr Text k_protocol(" HTTP/", 'H');
  if (const std::size_t http = find_text(line, k_protocol); http != std::string_view::npos) {
    const std::size_t quote = line.find('"', http);
    if (quote != std::string_view::npos && quote + 2 < line.size())
      if (const int status = three(line.substr(quote + 2)); status != 0) return status;
    // AWS load balancers write the status before the request: `... 0.001 60.000 -1 504 - 812 0 "`.
    const auto before = base::split_blanks(line.substr(0, line.find('"')));
    constexpr std::size_t k_alb_words = 12;
    if (before.size() == k_alb_words) return three(before[8]);
  }
  static constexpr std::array<Text, 5> k_keys{{{"response_code", '_'},
                                               {"status_code", '_'},
                                               {"DownstreamStatus", 'D'},
                                               {"status", 'u'},
                                               {"code", 'd'}}};
  for (const Text& key : k_keys)
    if (const int status = three(value_of(line, key)); status != 0) return status;
  return 0;
}

class GatewayMeter final : public LineMeter {
 public:
  explicit GatewayMeter(evidence::Place place) : place_(std::move(place)) {}

  void line(std::string_view line, std::uint32_t number) override {
    line = line.substr(0, 4096);
    const int status = status_of(line);
    if (status == 0) return;
    ++requests_;
    const bool failed = status >= 500;
    if (failed && first_failure_ == 0) {
      first_failure_ = number;
      stamp_ = read_prefix(line, evidence::Kind::gateway_log).stamp;
    }
    errors_ += failed ? 1 : 0;
    if (failed) ++by_status_.at(static_cast<std::size_t>(status - k_first_5xx));
    late_ = (late_ << 1U) | (failed ? 1U : 0U);
    if (status == 429) {
      ++rejected_;
      if (first_rejected_ == 0) first_rejected_ = number;
    }
    const std::string_view id = request_id(line);
    if (id.empty()) return;
    const std::size_t hash = std::hash<std::string_view>{}(id);
    if ((hash & mask_) != 0) return;
    ++attempts_[hash];
    if (attempts_.size() > k_most_requests) thin_out();
  }

  void finish(const evidence::FactSink& sink) override {
    if (requests_ == 0) return;
    Fact fact;
    fact.kind = evidence::Kind::load;
    fact.place = place_;
    fact.line = first_failure_ != 0 ? first_failure_ : 1;
    fact.stamp = stamp_;
    const auto set = [&](const char* field, const std::string& value, std::uint32_t line) {
      fact.set(field, value, line);
    };
    set("source", "gateway", fact.line);
    double attempts = 0;
    for (const auto& [id, count] : attempts_) attempts += count;
    const double ids = static_cast<double>(attempts_.size());
    set("requests", std::to_string(requests_), fact.line);
    set("errors_5xx", std::to_string(errors_), fact.line);
    set("rejected_429", std::to_string(rejected_),
        first_rejected_ != 0 ? first_rejected_ : fact.line);
    set("error_share", plain(static_cast<double>(errors_) / static_cast<double>(requests_)),
        fact.line);
    const auto late = static_cast<double>(std::min<std::uint64_t>(requests_, k_late));
    set("late_error_share", plain(static_cast<double>(std::popcount(late_)) / late), fact.line);
    set("rejected_share", plain(static_cast<double>(rejected_) / static_cast<double>(requests_)),
        first_rejected_ != 0 ? first_rejected_ : fact.line);
    if (errors_ > 0)
      set("most_5xx",
          std::to_string(k_first_5xx + (std::max_element(by_status_.begin(), by_status_.end()) -
                                        by_status_.begin())),
          fact.line);
    if (ids > 0) set("retry_factor", plain(attempts / ids), fact.line);
    sink(std::move(fact));
  }

 private:
  void thin_out() {
    mask_ = mask_ * 2 + 1;
    for (auto it = attempts_.begin(); it != attempts_.end();)
      it = (it->first & mask_) != 0 ? attempts_.erase(it) : std::next(it);
  }

  evidence::Place place_;
  std::optional<evidence::Stamp> stamp_;                     ///< of the first failed answer
  std::unordered_map<std::size_t, std::uint32_t> attempts_;  ///< by hash of the request's id
  std::size_t mask_ = 0;
  std::uint64_t requests_ = 0, errors_ = 0, rejected_ = 0;
  static constexpr int k_first_5xx = 500;
  std::array<std::uint64_t, 100> by_status_{};  ///< 500 to 599
  static constexpr std::uint64_t k_late = 64;
  std::uint64_t late_ = 0;  ///< one bit for each of the last answers: 1, it failed
  std::uint32_t first_failure_ = 0, first_rejected_ = 0;
};

}  // namespace

std::unique_ptr<LineMeter> meter_for(evidence::Kind kind, evidence::Format format,
                                     const evidence::Place& place) {
  const bool lines = format == evidence::Format::lines || format == evidence::Format::json_lines;
  if (kind == evidence::Kind::gateway_log && lines) return std::make_unique<GatewayMeter>(place);
  return nullptr;
}

}  // namespace triage::analysis::derive
