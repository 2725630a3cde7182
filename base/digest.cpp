#include "base/digest.hpp"

#include <nettle/hmac.h>
#include <nettle/sha2.h>
#include <sys/random.h>

#include <cerrno>
#include <stdexcept>

namespace triage::base {
namespace {

const std::uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

}  // namespace

struct Sha256::State {
  sha256_ctx context;
  State() { sha256_init(&context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::string_view bytes) {
  sha256_update(&state_->context, bytes.size(), bytes_of(bytes));
}

Sha256Digest Sha256::finish() {
  Sha256Digest digest{};
  sha256_digest(&state_->context, digest.size(), digest.data());  // and starts anew
  return digest;
}

Sha256Digest sha256(std::string_view bytes) {
  Sha256 sum;
  sum.update(bytes);
  return sum.finish();
}

Sha256Digest hmac_sha256(std::string_view key, std::string_view message) {
  hmac_sha256_ctx context;
  hmac_sha256_set_key(&context, key.size(), bytes_of(key));
  hmac_sha256_update(&context, message.size(), bytes_of(message));
  Sha256Digest digest{};
  hmac_sha256_digest(&context, digest.size(), digest.data());
  return digest;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  static constexpr char k_digits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    hex += k_digits[byte >> 4U];
    hex += k_digits[byte & 15U];
  }
  return hex;
}

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t have = 0; have < count;) {
    const ssize_t got = getrandom(bytes.data() + have, count - have, 0);
    // No caller could mend a system without randomness.
    if (got < 0 && errno != EINTR)
      throw std::runtime_error("the system has no random bytes to give");
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  return bytes;
}

}  // namespace triage::base
