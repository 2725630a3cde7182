#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "bundle/input.hpp"

/// Small byte streams that containers are read through.
namespace triage::bundle {

/// A file descriptor: regular file, pipe or terminal. Owns the descriptor unless it is stdin.
class FileStream final : public ByteStream {
 public:
  [[nodiscard]] static base::Result<std::unique_ptr<FileStream>> open(const std::string& path);
  /// `live`: reads give what is there.
  [[nodiscard]] static std::unique_ptr<FileStream> standard_input(bool live = false);
  FileStream(const FileStream&) = delete;
  FileStream& operator=(const FileStream&) = delete;
  ~FileStream() override;

  [[nodiscard]] std::size_t read(std::span<char> buffer) override;
  [[nodiscard]] const std::optional<std::string>& damage() const override { return damage_; }
  [[nodiscard]] bool idle() const override;
  [[nodiscard]] bool seekable() const { return size_.has_value(); }
  [[nodiscard]] std::optional<std::uint64_t> size() const { return size_; }
  /// Reads at an offset without moving the stream; only for seekable files.
  [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<char> buffer) const;

 private:
  FileStream(int fd, bool owned, std::optional<std::uint64_t> size)
      : fd_(fd), owned_(owned), size_(size) {}
  int fd_;
  bool owned_;
  std::optional<std::uint64_t> size_;
  bool live_ = false;
  std::uint64_t seen_ = 0;  ///< of a live source
  std::optional<std::string> damage_;
};

/// Bytes in memory.
class MemoryStream final : public ByteStream {
 public:
  explicit MemoryStream(std::string bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::size_t read(std::span<char> buffer) override;
  [[nodiscard]] const std::optional<std::string>& damage() const override { return damage_; }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
  std::optional<std::string> damage_;
};

/// Lets the first bytes be looked at before they are read.
class PeekStream final : public ByteStream {
 public:
  explicit PeekStream(ByteStream& source) : source_(source) {}
  /// At least the next `wanted` bytes where the source has them by now; the view lasts until the
  /// next call.
  [[nodiscard]] std::string_view peek(std::size_t wanted);
  [[nodiscard]] std::size_t read(std::span<char> buffer) override;
  [[nodiscard]] const std::optional<std::string>& damage() const override {
    return source_.damage();
  }
  [[nodiscard]] bool idle() const override { return at_ == held_.size() && source_.idle(); }
  /// True when everything was delivered and the source has no more.
  [[nodiscard]] bool at_end() { return peek(1).empty(); }

 private:
  ByteStream& source_;
  std::vector<char> held_;
  std::size_t at_ = 0;
};

/// Reads ahead of a source, up to a limit, when it is made: a short source is held whole from then
/// on and not asked again.
class HeadStream final : public ByteStream {
 public:
  /// `expected`: how much the source is said to have, so that memory is asked for once.
  HeadStream(ByteStream& source, std::size_t limit, std::uint64_t expected = 0);
  /// Whether the source ended before the limit.
  [[nodiscard]] bool whole() const { return whole_; }
  [[nodiscard]] std::size_t held() const { return held_; }
  [[nodiscard]] std::size_t read(std::span<char> buffer) override;
  [[nodiscard]] std::optional<std::string_view> take_held() override;
  /// Of the source; nothing when it was held whole, for then it may be gone.
  [[nodiscard]] const std::optional<std::string>& damage() const override;

 private:
  void reserve(std::size_t size);

  ByteStream& source_;
  std::unique_ptr<char[]> head_;  ///< not a string: that would be zeroed first
  std::size_t room_ = 0;
  std::size_t held_ = 0;
  std::size_t at_ = 0;
  bool whole_ = false;
  std::optional<std::string> none_;
};

/// UTF-16 with a byte order mark (PowerShell writes it for `kubectl logs > file`) as UTF-8. Half
/// pairs become U+FFFD.
class Utf16Stream final : public ByteStream {
 public:
  explicit Utf16Stream(ByteStream& source) : source_(source) {}
  [[nodiscard]] static bool recognises(std::string_view head) {
    return head.substr(0, 2) == "\xff\xfe" || head.substr(0, 2) == "\xfe\xff";
  }
  [[nodiscard]] std::size_t read(std::span<char> buffer) override;
  [[nodiscard]] const std::optional<std::string>& damage() const override {
    return source_.damage();
  }

 private:
  void refill();
  ByteStream& source_;
  std::string ready_;
  std::size_t at_ = 0;
  std::optional<bool> big_endian_;
  char16_t pending_ = 0;  ///< first half of a surrogate pair
  bool ended_ = false;
};

/// Counts what all streams of a run deliver and stops them at the limit, whatever the nesting.
struct Budget {
  std::uint64_t expanded = 0;
  std::uint64_t members = 0;
  bool exhausted = false;
};

class MeteredStream final : public ByteStream {
 public:
  MeteredStream(ByteStream& source, Budget& budget, std::uint64_t max_expanded)
      : source_(source), budget_(budget), max_expanded_(max_expanded) {}
  [[nodiscard]] std::size_t read(std::span<char> buffer) override;
  [[nodiscard]] const std::optional<std::string>& damage() const override {
    return damage_ ? damage_ : source_.damage();
  }
  [[nodiscard]] std::uint64_t delivered() const { return delivered_; }

 private:
  ByteStream& source_;
  Budget& budget_;
  std::uint64_t max_expanded_;
  std::uint64_t delivered_ = 0;
  std::optional<std::string> damage_;
};

/// Fills `buffer` from `stream`, whatever the pieces it comes in.
[[nodiscard]] std::size_t read_fully(ByteStream& stream, std::span<char> buffer);
/// Everything a stream still has, at most `limit` bytes.
[[nodiscard]] std::string read_all(ByteStream& stream, std::size_t limit);

}  // namespace triage::bundle
