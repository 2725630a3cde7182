#pragma once

#include <cstddef>
#include <string_view>

#include "redact/finding.hpp"

namespace triage::redact {

class Namer;

/// What the identifiers of people and machines look like. Each takes a word of `text`, bytes
/// [begin, end), and says how much of it is one.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] bool empty() const { return end <= begin; }
};

/// The e-mail address around the `@` in a word.
[[nodiscard]] Span find_email(std::string_view text, std::size_t begin, std::size_t end);

/// An IPv4 address at `begin` that is no version: not after `version`, `==`, `v` and the like, not
/// before a suffix. Addresses that tell nothing (loopback, wildcard, netmask, multicast, those of
/// this program's pseudonyms) are none.
[[nodiscard]] Span find_ip4(std::string_view text, std::size_t begin, std::size_t end);
/// An IPv6 address at `begin`: eight groups, or `::` with at least three.
[[nodiscard]] Span find_ip6(std::string_view text, std::size_t begin);
/// Six pairs of hex digits; serial numbers of certificates have more or fewer.
[[nodiscard]] Span find_mac(std::string_view text, std::size_t begin);

/// A host name by its last label. In a place that holds hosts (`sure`: a URL, a key such as
/// `host`), any domain counts; elsewhere only those that no file, module or API group ends in.
/// Public registries, API groups and names inside a cluster are none.
[[nodiscard]] bool is_private_host(std::string_view word, bool sure);

/// `ada.lovelace`, `t.vandermeul+` (cut): a person's name with a dot, as directories give them.
[[nodiscard]] bool is_dotted_user(std::string_view name);

/// The user's part of a home directory in a path (`/home/ada/.cache`), unless the account is one
/// that images and services use.
[[nodiscard]] Span find_home_user(std::string_view text, std::size_t begin, std::size_t end);

/// Names of accounts that belong to machines: `root`, `svc-router`, `system:node`, `ubuntu`.
[[nodiscard]] bool is_service_account(std::string_view name);

}  // namespace triage::redact
