#include "base/digest.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <new>
#include <stdexcept>

namespace triage::base {

// libcrypto fails here only when memory runs out or its configuration is broken: no caller could
// mend either, so they are exceptions.

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();

  State() {
    if (context == nullptr) throw std::bad_alloc();
    start();
  }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void start() const {
    if (EVP_DigestInit_ex(context, EVP_sha256(), nullptr) != 1)
      throw std::runtime_error("SHA-256 is not available from libcrypto");
  }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::string_view bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

Sha256Digest Sha256::finish() {
  Sha256Digest digest{};
  unsigned length = 0;
  EVP_DigestFinal_ex(state_->context, digest.data(), &length);
  state_->start();
  return digest;
}

Sha256Digest sha256(std::string_view bytes) {
  Sha256 sum;
  sum.update(bytes);
  return sum.finish();
}

Sha256Digest hmac_sha256(std::string_view key, std::string_view message) {
  Sha256Digest digest{};
  unsigned length = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(message.data());
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, message.size(),
           digest.data(), &length) == nullptr)
    throw std::runtime_error("HMAC is not available from libcrypto");
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
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) != 1)
    throw std::runtime_error("the system has no random bytes to give");
  return bytes;
}

}  // namespace triage::base
