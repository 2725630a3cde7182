#include "bundle/streams.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/utf8.hpp"

namespace triage::bundle {

base::Result<std::unique_ptr<FileStream>> FileStream::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0)
    return base::Problem{std::string("cannot be opened: ") + std::strerror(errno), path, ""};
  struct stat info {};
  std::optional<std::uint64_t> size;
  if (::fstat(fd, &info) == 0) {
    if (S_ISDIR(info.st_mode)) {
      ::close(fd);
      return base::Problem{"is a directory", path, ""};
    }
    // /proc and /sys files say size 0: they are streams, not files of known size.
    if (S_ISREG(info.st_mode) && info.st_size > 0) size = static_cast<std::uint64_t>(info.st_size);
  }
  if (size) ::posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  return std::unique_ptr<FileStream>(new FileStream(fd, true, size));
}

std::unique_ptr<FileStream> FileStream::standard_input(bool live) {
  std::unique_ptr<FileStream> stream(new FileStream(STDIN_FILENO, false, std::nullopt));
  stream->live_ = live;
  return stream;
}

FileStream::~FileStream() {
  if (owned_) ::close(fd_);
}

std::size_t FileStream::read(std::span<char> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size() && !damage_) {
    if (filled > 0 && idle()) break;
    const ssize_t got = ::read(fd_, buffer.data() + filled, buffer.size() - filled);
    if (got > 0) {
      filled += static_cast<std::size_t>(got);
      seen_ += static_cast<std::size_t>(got);
    } else if (got == 0) {
      break;
    } else if (errno != EINTR) {
      damage_ = std::string("cannot be read further: ") + std::strerror(errno);
    }
  }
  return filled;
}

bool FileStream::idle() const {
  if (!live_) return false;
  // A program that has just begun to write is given a moment, so that what it writes is recognised.
  constexpr std::uint64_t k_head = 64U << 10U;
  constexpr int k_patience_ms = 150;
  pollfd watched{fd_, POLLIN, 0};
  return ::poll(&watched, 1, seen_ < k_head ? k_patience_ms : 0) == 0;
}

std::size_t FileStream::read_at(std::uint64_t offset, std::span<char> buffer) const {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t got = ::pread(fd_, buffer.data() + filled, buffer.size() - filled,
                                static_cast<off_t>(offset + filled));
    if (got > 0) {
      filled += static_cast<std::size_t>(got);
    } else if (got == 0 || errno != EINTR) {
      break;
    }
  }
  return filled;
}

std::size_t MemoryStream::read(std::span<char> buffer) {
  const std::size_t count = std::min(buffer.size(), bytes_.size() - at_);
  std::memcpy(buffer.data(), bytes_.data() + at_, count);
  at_ += count;
  return count;
}

std::string_view PeekStream::peek(std::size_t wanted) {
  if (held_.size() - at_ < wanted) {
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ = 0;
    std::size_t have = held_.size();
    held_.resize(wanted);
    while (have < wanted && !(have > 0 && source_.idle())) {
      const std::size_t got = source_.read(std::span<char>(held_).subspan(have));
      if (got == 0) break;
      have += got;
    }
    held_.resize(have);
  }
  return {held_.data() + at_, held_.size() - at_};
}

std::size_t PeekStream::read(std::span<char> buffer) {
  std::size_t filled = 0;
  if (at_ < held_.size()) {
    filled = std::min(buffer.size(), held_.size() - at_);
    std::memcpy(buffer.data(), held_.data() + at_, filled);
    at_ += filled;
    if (at_ == held_.size()) {
      held_ = {};
      at_ = 0;
    }
  }
  if (filled < buffer.size() && !(filled > 0 && source_.idle()))
    filled += source_.read(buffer.subspan(filled));
  return filled;
}

HeadStream::HeadStream(ByteStream& source, std::size_t limit, std::uint64_t expected)
    : source_(source) {
  constexpr std::size_t k_step = 128U << 10U;
  // One byte more, so that the read that finds the end has room to look.
  if (expected > 0 && expected < limit) reserve(static_cast<std::size_t>(expected) + 1);
  while (!whole_ && held_ < limit) {
    if (held_ == room_) reserve(std::min(limit, std::max(room_ * 2, k_step)));
    const std::size_t got = source_.read({head_.get() + held_, room_ - held_});
    held_ += got;
    whole_ = got == 0;
  }
}

void HeadStream::reserve(std::size_t size) {
  auto grown = std::make_unique_for_overwrite<char[]>(size);
  if (held_ > 0) std::memcpy(grown.get(), head_.get(), held_);
  head_ = std::move(grown);
  room_ = size;
}

std::size_t HeadStream::read(std::span<char> buffer) {
  const std::size_t count = std::min(buffer.size(), held_ - at_);
  if (count > 0) std::memcpy(buffer.data(), head_.get() + at_, count);
  at_ += count;
  if (at_ == held_) head_ = nullptr;
  if (count == buffer.size() || whole_) return count;
  return count + source_.read(buffer.subspan(count));
}

std::optional<std::string_view> HeadStream::take_held() {
  if (!whole_) return std::nullopt;
  const std::string_view rest(head_.get() + at_, held_ - at_);
  at_ = held_;
  return rest;
}

const std::optional<std::string>& HeadStream::damage() const {
  return whole_ ? none_ : source_.damage();
}

void Utf16Stream::refill() {
  constexpr std::size_t k_block = 64 * 1024;
  constexpr char32_t k_replacement = 0xfffd;
  std::vector<char> raw(k_block);
  const std::size_t got = read_fully(source_, raw);
  ended_ = got < raw.size();
  ready_.clear();
  at_ = 0;
  std::size_t i = 0;
  if (!big_endian_ && got >= 2) {
    big_endian_ = raw[0] == '\xfe';
    i = 2;
  }
  for (; i + 1 < got; i += 2) {
    const auto first = static_cast<unsigned char>(raw[i]);
    const auto second = static_cast<unsigned char>(raw[i + 1]);
    const auto unit =
        static_cast<char16_t>(*big_endian_ ? first << 8U | second : second << 8U | first);
    const bool high = unit >= 0xd800 && unit < 0xdc00;
    const bool low = unit >= 0xdc00 && unit < 0xe000;
    if (low && pending_ != 0) {
      base::append_utf8(ready_, 0x10000 + ((pending_ - 0xd800U) << 10U) + (unit - 0xdc00U));
      pending_ = 0;
      continue;
    }
    if (pending_ != 0 || low) base::append_utf8(ready_, k_replacement);
    pending_ = high ? unit : 0;
    if (!high && !low) base::append_utf8(ready_, unit);
  }
  if (ended_ && (pending_ != 0 || i < got)) base::append_utf8(ready_, k_replacement);
}

std::size_t Utf16Stream::read(std::span<char> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    if (at_ == ready_.size()) {
      if (ended_) break;
      refill();
      continue;
    }
    const std::size_t count = std::min(buffer.size() - filled, ready_.size() - at_);
    std::memcpy(buffer.data() + filled, ready_.data() + at_, count);
    at_ += count;
    filled += count;
  }
  return filled;
}

std::size_t MeteredStream::read(std::span<char> buffer) {
  if (budget_.exhausted) return 0;
  const std::uint64_t left = max_expanded_ - std::min(max_expanded_, budget_.expanded);
  if (left == 0) {
    // Only a stream that has more than the limit is cut; one that ends on it is whole.
    char probe = 0;
    if (source_.read({&probe, 1}) == 0) return 0;
    budget_.exhausted = true;
    damage_ = "the limit on expanded bytes was reached; the rest was not read";
    return 0;
  }
  const std::size_t got = source_.read(
      buffer.first(static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer.size()))));
  budget_.expanded += got;
  delivered_ += got;
  return got;
}

std::size_t read_fully(ByteStream& stream, std::span<char> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const std::size_t got = stream.read(buffer.subspan(filled));
    if (got == 0) break;
    filled += got;
  }
  return filled;
}

std::string read_all(ByteStream& stream, std::size_t limit) {
  std::string text;
  constexpr std::size_t k_step = 256 * 1024;
  while (text.size() < limit) {
    const std::size_t before = text.size();
    text.resize(std::min(limit, before + k_step));
    const std::size_t got =
        read_fully(stream, std::span<char>(text.data() + before, text.size() - before));
    text.resize(before + got);
    if (got == 0) break;
  }
  return text;
}

}  // namespace triage::bundle
