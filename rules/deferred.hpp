#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace triage::rules {

/// A value that stays bytes until somebody asks for it. Catalogs and samples are most of what the
/// binary holds, and one run needs next to nothing of them.
/// Reading is safe from several threads; `edit` is not.
template <class T>
class Deferred {
 public:
  using Decode = T (*)(std::string_view bytes);

  Deferred() = default;
  Deferred(T value) : value_(new T(std::move(value))) {}  // NOLINT(google-explicit-constructor)
  /// `owner` keeps the bytes alive; empty for bytes of the binary itself.
  Deferred(std::string_view bytes, Decode decode, std::shared_ptr<const std::string> owner)
      : bytes_(bytes), decode_(decode), owner_(std::move(owner)) {}
  ~Deferred() { delete value_.load(std::memory_order_acquire); }
  Deferred(const Deferred& other)
      : bytes_(other.bytes_), decode_(other.decode_), owner_(other.owner_) {
    if (const T* value = other.value_.load(std::memory_order_acquire); value != nullptr)
      value_.store(new T(*value), std::memory_order_release);
  }
  Deferred(Deferred&& other) noexcept { swap(other); }
  Deferred& operator=(const Deferred& other) {
    if (this == &other) return *this;
    Deferred copy(other);
    swap(copy);
    return *this;
  }
  Deferred& operator=(Deferred&& other) noexcept {
    swap(other);
    return *this;
  }

  [[nodiscard]] const T& operator*() const { return get(); }
  [[nodiscard]] const T* operator->() const { return &get(); }
  /// The value, to be changed.
  [[nodiscard]] T& edit() { return get(); }

  bool operator==(const Deferred& other) const { return **this == *other; }

 private:
  T& get() const {
    if (T* value = value_.load(std::memory_order_acquire); value != nullptr) return *value;
    auto made = std::make_unique<T>(decode_ == nullptr ? T() : decode_(bytes_));
    T* expected = nullptr;
    // Two threads may decode at once: the first to finish is heard.
    if (value_.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel))
      return *made.release();
    return *expected;
  }
  void swap(Deferred& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(decode_, other.decode_);
    std::swap(owner_, other.owner_);
    T* const mine = value_.load(std::memory_order_acquire);
    value_.store(other.value_.load(std::memory_order_acquire), std::memory_order_release);
    other.value_.store(mine, std::memory_order_release);
  }

  std::string_view bytes_;
  Decode decode_ = nullptr;
  std::shared_ptr<const std::string> owner_;
  mutable std::atomic<T*> value_{nullptr};
};

}  // namespace triage::rules
