#include "base/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace triage::base {
namespace {

constexpr std::array<std::uint32_t, 64> k_rounds{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

}  // namespace

void Sha256::block(const unsigned char* data) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t i = 0; i < 16; ++i)
    w[i] = static_cast<std::uint32_t>(data[4 * i]) << 24U |
           static_cast<std::uint32_t>(data[4 * i + 1]) << 16U |
           static_cast<std::uint32_t>(data[4 * i + 2]) << 8U |
           static_cast<std::uint32_t>(data[4 * i + 3]);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = w[i - 15];
    const std::uint32_t b = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3U)) + w[i - 7] +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10U));
  }
  auto s = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t t1 = s[7] +
                             (std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25)) +
                             ((s[4] & s[5]) ^ (~s[4] & s[6])) + k_rounds[i] + w[i];
    const std::uint32_t t2 = (std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22)) +
                             ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    std::rotate(s.begin(), s.end() - 1, s.end());
    s[4] += t1;
    s[0] = t1 + t2;
  }
  for (std::size_t i = 0; i < 8; ++i) state_[i] += s[i];
}

void Sha256::update(std::string_view bytes) {
  length_ += bytes.size();
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t left = bytes.size();
  while (left > 0) {
    if (filled_ == 0 && left >= 64) {
      block(data);
      data += 64;
      left -= 64;
      continue;
    }
    const std::size_t take = std::min(left, 64 - filled_);
    std::memcpy(buffer_.data() + filled_, data, take);
    filled_ += take;
    data += take;
    left -= take;
    if (filled_ == 64) {
      block(buffer_.data());
      filled_ = 0;
    }
  }
}

std::array<std::uint8_t, 32> Sha256::bytes() {
  const std::uint64_t bits = length_ * 8;
  buffer_[filled_++] = 0x80;
  if (filled_ > 56) {
    std::fill(buffer_.begin() + static_cast<std::ptrdiff_t>(filled_), buffer_.end(), 0);
    block(buffer_.data());
    filled_ = 0;
  }
  std::fill(buffer_.begin() + static_cast<std::ptrdiff_t>(filled_), buffer_.begin() + 56, 0);
  for (std::size_t i = 0; i < 8; ++i)
    buffer_[56 + i] = static_cast<unsigned char>(bits >> (56 - 8 * i));
  block(buffer_.data());
  std::array<std::uint8_t, 32> out{};
  for (std::size_t i = 0; i < 32; ++i)
    out[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  return out;
}

std::string Sha256::hex() {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes()) {
    text.push_back(digits[byte >> 4U]);
    text.push_back(digits[byte & 15U]);
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 sha;
  sha.update(bytes);
  return sha.hex();
}

}  // namespace triage::base
