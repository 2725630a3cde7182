#include "report/base64.hpp"

#include <cstdint>

namespace triage::report {

std::string to_base64(std::string_view bytes) {
  static constexpr std::string_view k_letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    const std::size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
    for (std::size_t k = 0; k < 3; ++k)
      word = (word << 8U) | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += k <= count ? k_letters[(word >> (18 - 6 * k)) & 63U] : '=';
  }
  return out;
}

}  // namespace triage::report
