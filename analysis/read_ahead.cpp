#include "analysis/read_ahead.hpp"

#include <algorithm>
#include <cstring>

#include "base/thread.hpp"

namespace triage::analysis {

ReadAhead::ReadAhead(bundle::ByteStream& source, Pool& pool) : source_(source), pool_(pool) {
  pool_.resize(k_blocks);
  // The first block is read here: most files end in it and need no thread.
  fill(pool_[0]);
  written_ = 1;
  if (pool_[0].used < k_block) {
    ended_ = true;
    return;
  }
  thread_ = base::thread_or_none([this] { run(); });
}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ReadAhead::fill(Block& block) {
  if (block.bytes.size() < k_least) block.bytes.resize(k_least);
  block.used = 0;
  while (block.used < k_block) {
    if (block.used == block.bytes.size()) block.bytes.resize(k_block);
    const std::size_t got =
        source_.read({block.bytes.data() + block.used, block.bytes.size() - block.used});
    if (got == 0) return;
    block.used += got;
  }
}

void ReadAhead::run() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    changed_.wait(lock, [this] { return stop_ || written_ - consumed_ < k_blocks; });
    if (stop_) return;
    fill_next(lock);
  }
}

void ReadAhead::fill_next(std::unique_lock<std::mutex>& lock) {
  Block& block = pool_[written_ % k_blocks];
  lock.unlock();
  fill(block);
  lock.lock();
  ++written_;
  ended_ = block.used < k_block;
  changed_.notify_all();
}

std::size_t ReadAhead::read(std::span<char> buffer) {
  {
    std::unique_lock lock(mutex_);
    if (!thread_.joinable() && written_ == consumed_ && !ended_) fill_next(lock);
    changed_.wait(lock, [this] { return written_ > consumed_ || ended_; });
    if (written_ == consumed_) return 0;
  }
  Block& block = pool_[consumed_ % k_blocks];
  const std::size_t size = std::min(buffer.size(), block.used - at_);
  std::memcpy(buffer.data(), block.bytes.data() + at_, size);
  at_ += size;
  if (at_ == block.used) {
    const std::lock_guard lock(mutex_);
    at_ = 0;
    ++consumed_;
    changed_.notify_all();
  }
  return size;
}

}  // namespace triage::analysis
