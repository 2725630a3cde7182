#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace triage::base {

/// SHA-256 (FIPS 180-4), for digests that name content; not for secrets.
class Sha256 {
 public:
  void update(std::string_view bytes);
  /// 64 hexadecimal digits; the object must not be used afterwards.
  [[nodiscard]] std::string hex();
  /// The 32 bytes themselves; the object must not be used afterwards.
  [[nodiscard]] std::array<std::uint8_t, 32> bytes();

 private:
  void block(const unsigned char* data);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> buffer_{};
  std::size_t filled_ = 0;
  std::uint64_t length_ = 0;
};

[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace triage::base
