#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bundle/input.hpp"

namespace triage::analysis {

/// A stream that a thread of its own reads ahead, so that decompression and scanning run beside
/// each other. A fixed pool of blocks bounds the memory. Short streams are read without a thread.
/// The source must outlive it.
class ReadAhead final : public bundle::ByteStream {
 public:
  static constexpr std::size_t k_block = 512U << 10U;
  static constexpr std::size_t k_blocks = 4;
  static constexpr std::size_t k_least = 64U << 10U;  ///< memory for small files

  struct Block {
    std::vector<char> bytes;
    std::size_t used = 0;
  };
  using Pool = std::vector<Block>;

  /// `pool` lends its memory and can be used for one stream after another.
  ReadAhead(bundle::ByteStream& source, Pool& pool);
  ~ReadAhead() override;
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  [[nodiscard]] std::size_t read(std::span<char> buffer) override;
  [[nodiscard]] const std::optional<std::string>& damage() const override {
    return source_.damage();
  }

 private:
  void run();
  void fill(Block& block);
  /// Fills the next block, without the lock meanwhile.
  void fill_next(std::unique_lock<std::mutex>& lock);

  bundle::ByteStream& source_;
  Pool& pool_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t written_ = 0;   ///< blocks filled so far
  std::size_t consumed_ = 0;  ///< blocks given back so far
  std::size_t at_ = 0;        ///< in the current block
  bool ended_ = false;
  bool stop_ = false;
  std::thread thread_;  ///< none where the file fits a block, or the machine gives no thread
};

}  // namespace triage::analysis
