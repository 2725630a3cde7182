#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

/// SHA-256 and what is built on it, from Nettle, which libarchive brings along anyway.
namespace triage::base {

using Sha256Digest = std::array<std::uint8_t, 32>;

/// A running SHA-256 over any number of pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::string_view bytes);
  /// Ends the sum; the object starts anew afterwards.
  [[nodiscard]] Sha256Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] Sha256Digest sha256(std::string_view bytes);
[[nodiscard]] Sha256Digest hmac_sha256(std::string_view key, std::string_view message);
/// Lower-case hex.
[[nodiscard]] std::string to_hex(std::span<const std::uint8_t> bytes);
/// `count` bytes of the system's random source.
[[nodiscard]] std::string random_bytes(std::size_t count);

}  // namespace triage::base
