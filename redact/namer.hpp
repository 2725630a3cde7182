#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "redact/finding.hpp"

namespace triage::redact {

/// How a masked value is called.
///
/// Pseudonyms are HMACs with the salt over what the value is and the value, nothing else: the same
/// value has the same name in every file, and without the salt nobody can test a guess. Addresses
/// keep the shape that parsers expect and move into ranges that no real one has, so that a name is
/// known as such when it is redacted again:
///   10.42.3.17                    -> 247.201.16.9      (240.0.0.0/4, never routed)
///   gpu-node-07.prod.example.net  -> gpu-node-07.d-1f0c4a9e22.invalid
///   a0:88:c2:1b:77:04             -> fe:ed:5c:01:9a:33
/// With fixed placeholders every value of a kind has one name: `<redacted:token>`.
class Namer {
 public:
  enum class Style : std::uint8_t { pseudonyms, fixed };

  Namer(Style style, std::string salt) : style_(style), salt_(std::move(salt)) {}

  [[nodiscard]] Style style() const { return style_; }
  /// Tells two salts apart without giving either away.
  [[nodiscard]] std::string salt_id() const;

  /// `<token:1f0c4a9e22>` or `<redacted:token>`. `label` replaces the name of `what`.
  [[nodiscard]] std::string name(What what, std::string_view value,
                                 std::string_view label = {}) const;
  /// For a piece of something longer whose value is not known as a whole.
  [[nodiscard]] std::string name_of_part(What what) const;

  /// Dotted IPv4 address or IPv6 address in any spelling; the port is not part of it.
  [[nodiscard]] std::string name_of_ip(std::string_view address);
  [[nodiscard]] std::string name_of_mac(std::string_view address) const;
  /// A host name with at least two labels: the domain is replaced, the first label stays (pods and
  /// short node names stay too, and logs mix both forms).
  [[nodiscard]] std::string name_of_host(std::string_view host) const;
  /// The whole name is replaced.
  [[nodiscard]] std::string name_of_whole_host(std::string_view host) const;

 private:
  [[nodiscard]] std::string digest(std::string_view family, std::string_view value,
                                   std::size_t bytes) const;
  [[nodiscard]] std::string name_of_ip4(std::uint32_t address);

  Style style_;
  std::string salt_;
  // 28 bits are few: names that are taken are kept, so that no two addresses share one.
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, std::uint32_t> taken_;  ///< name -> address
  std::unordered_map<std::uint32_t, std::uint32_t> names_;  ///< address -> name
};

/// Numbers of an IPv4 address; refuses leading zeros, as versions have them.
[[nodiscard]] std::optional<std::uint32_t> parse_ip4(std::string_view text);

}  // namespace triage::redact
