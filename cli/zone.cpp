#include "cli/zone.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>

#include "base/text.hpp"
#include "evidence/time.hpp"

namespace triage::cli {
namespace {

constexpr std::int64_t k_second = 1'000'000'000;

std::optional<std::int64_t> fixed_offset(const std::string& text) {
  if (base::iequals(text, "utc") || base::iequals(text, "z")) return 0;
  const auto stamp = evidence::parse_rfc3339("2000-01-01T00:00:00" + text);
  const auto utc = evidence::parse_rfc3339("2000-01-01T00:00:00Z");
  if (!stamp || stamp->base != evidence::Stamp::Base::utc) return std::nullopt;
  return utc->ns - stamp->ns;
}

/// The C library reads an unknown name as UTC without a word, so the file is looked for first.
bool in_database(const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '/' || c == '_' || c == '-' || c == '+';
  });
  if (name.empty() || !plain || name.front() == '/') return false;
  const char* folder = std::getenv("TZDIR");
  std::error_code ignored;
  return std::filesystem::is_regular_file(
      std::filesystem::path(folder != nullptr ? folder : "/usr/share/zoneinfo") / name, ignored);
}

std::int64_t offset_here(std::int64_t local_ns) {
  const std::int64_t seconds = local_ns / k_second;
  const std::time_t as_utc = seconds;
  std::tm civil{};
  if (gmtime_r(&as_utc, &civil) == nullptr) return 0;
  civil.tm_isdst = -1;  // the zone knows whether it is summer
  const std::time_t utc = std::mktime(&civil);
  return (seconds - static_cast<std::int64_t>(utc)) * k_second;
}

}  // namespace

std::function<std::int64_t(std::int64_t)> zone_from(const std::string& text) {
  if (const auto offset = fixed_offset(text)) {
    return [ns = *offset](std::int64_t) { return ns; };
  }
  if (!in_database(text)) return {};
  setenv("TZ", (":" + text).c_str(), 1);
  tzset();
  return offset_here;
}

}  // namespace triage::cli
