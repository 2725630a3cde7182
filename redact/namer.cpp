#include "redact/namer.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/digest.hpp"
#include "base/text.hpp"

namespace triage::redact {
namespace {

/// Addresses beyond this many keep the name that their digest gives, shared or not.
constexpr std::size_t k_most_addresses = 1'000'000;

std::string_view family_of(What what) {
  if (is_credential(what)) return "credential";
  if (is_content(what)) return "content";
  return to_string(what);
}

}  // namespace

std::optional<std::uint32_t> parse_ip4(std::string_view text) {
  std::uint32_t address = 0;
  std::size_t at = 0;
  for (int part = 0; part < 4; ++part) {
    if (part > 0 && (at >= text.size() || text[at++] != '.')) return std::nullopt;
    unsigned value = 0;
    std::size_t digits = 0;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9' && digits < 4) {
      value = value * 10 + static_cast<unsigned>(text[at++] - '0');
      ++digits;
    }
    const bool zero_led = digits > 1 && text[at - digits] == '0';
    if (digits == 0 || digits > 3 || zero_led || value > 255) return std::nullopt;
    address = (address << 8U) | value;
  }
  if (at != text.size()) return std::nullopt;
  return address;
}

std::string Namer::digest(std::string_view family, std::string_view value,
                          std::size_t bytes) const {
  std::string message(family);
  message += '\0';
  message += value;
  const base::Sha256Digest mac = base::hmac_sha256(salt_, message);
  return base::to_hex(std::span(mac).first(bytes));
}

std::string Namer::salt_id() const {
  return digest("salt", "", 4);
}

std::string Namer::name(What what, std::string_view value, std::string_view label) const {
  const std::string_view shown = label.empty() ? to_string(what) : label;
  if (style_ == Style::fixed) return fmt::format("<redacted:{}>", shown);
  return fmt::format("<{}:{}>", shown, digest(family_of(what), value, 5));
}

std::string Namer::name_of_part(What what) const {
  if (style_ == Style::fixed) return fmt::format("<redacted:{}>", to_string(what));
  return what == What::private_key ? "<private-key>" : "<text>";
}

std::string Namer::name_of_ip4(std::uint32_t address) {
  const std::lock_guard lock(mutex_);
  if (const auto known = names_.find(address); known != names_.end()) {
    const std::uint32_t n = known->second;
    return fmt::format("{}.{}.{}.{}", n >> 24U, (n >> 16U) & 255U, (n >> 8U) & 255U, n & 255U);
  }
  std::uint32_t name = 0;
  for (unsigned attempt = 0; attempt < 64; ++attempt) {
    const std::string message = fmt::format("{}/{}", address, attempt);
    const base::Sha256Digest mac = base::hmac_sha256(salt_, "ip" + std::string(1, '\0') + message);
    name = (std::uint32_t{mac[0]} << 24U) | (std::uint32_t{mac[1]} << 16U) |
           (std::uint32_t{mac[2]} << 8U) | mac[3];
    // 240.0.0.0/4 without 255.x, which netmasks and broadcasts use, and without 0 and 255 at the
    // end.
    name = 0xF0000000U | (name & 0x0FFFFFFFU);
    if ((name >> 24U) == 255U) name &= 0xF7FFFFFFU;
    const std::uint32_t last = name & 255U;
    if (last == 0 || last == 255) name ^= 0x5AU;
    const auto [place, fresh] = taken_.try_emplace(name, address);
    if (fresh || place->second == address || taken_.size() > k_most_addresses) break;
  }
  if (names_.size() < k_most_addresses) names_.emplace(address, name);
  return fmt::format("{}.{}.{}.{}", name >> 24U, (name >> 16U) & 255U, (name >> 8U) & 255U,
                     name & 255U);
}

std::string Namer::name_of_ip(std::string_view address) {
  if (style_ == Style::fixed) return "<redacted:ip>";
  if (const auto ip4 = parse_ip4(address)) return name_of_ip4(*ip4);
  // One spelling for all forms of an IPv6 address; `100::/64` is the discard prefix of RFC 6666.
  std::array<unsigned char, 16> bytes{};
  const std::string text(address);
  std::string_view key = address;
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1)
    key = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  const std::string id = digest("ip6", key, 8);
  return fmt::format("100::{}:{}:{}:{}", id.substr(0, 4), id.substr(4, 4), id.substr(8, 4),
                     id.substr(12, 4));
}

std::string Namer::name_of_mac(std::string_view address) const {
  if (style_ == Style::fixed) return "<redacted:mac>";
  std::string digits;
  for (const char c : address)
    if (c != ':' && c != '-') digits += c;
  const std::string id = digest("mac", base::to_lower(digits), 4);
  return fmt::format("fe:ed:{}:{}:{}:{}", id.substr(0, 2), id.substr(2, 2), id.substr(4, 2),
                     id.substr(6, 2));
}

std::string Namer::name_of_host(std::string_view host) const {
  if (style_ == Style::fixed) {
    const auto dot = host.find('.');
    const bool short_name = std::count(host.begin(), host.end(), '.') >= 2;
    return short_name ? std::string(host.substr(0, dot)) + ".<redacted:domain>" : "<redacted:host>";
  }
  const std::string lower = base::to_lower(host);
  const auto dot = lower.find('.');
  if (std::count(lower.begin(), lower.end(), '.') < 2)
    return fmt::format("d-{}.invalid", digest("domain", lower, 5));
  return fmt::format("{}.d-{}.invalid", host.substr(0, dot),
                     digest("domain", std::string_view(lower).substr(dot + 1), 5));
}

std::string Namer::name_of_whole_host(std::string_view host) const {
  if (style_ == Style::fixed) return "<redacted:host>";
  return fmt::format("host-{}.invalid", digest("host", base::to_lower(host), 5));
}

}  // namespace triage::redact
