#include "analysis/unmatched_lines.hpp"

namespace triage::analysis {
namespace {

constexpr std::size_t k_kept = 64;
constexpr std::size_t k_text = 400;

/// Numbers, addresses and ids blotted out.
std::string shape_of(std::string_view text) {
  std::string shape;
  bool in_number = false;
  for (const char c : text.substr(0, 200)) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) shape += c;
    if (digit && !in_number) shape += '#';
    in_number = digit;
  }
  return shape;
}

}  // namespace

void UnmatchedLines::add(std::string_view text, std::uint64_t line) {
  if (++seen_ > k_looked_at) return;
  const auto [it, is_new] = by_shape_.try_emplace(shape_of(text), clusters_.size());
  if (!is_new) {
    ++clusters_[it->second].count;
    return;
  }
  if (clusters_.size() >= k_kept) {
    by_shape_.erase(it);
    return;
  }
  clusters_.push_back(
      {std::string(text.substr(0, k_text)), file_, static_cast<std::uint32_t>(line), 1});
}

}  // namespace triage::analysis
