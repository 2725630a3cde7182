#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/input.hpp"

namespace triage::analysis {

/// How many line ends the text holds: as fast as memory gives it.
[[nodiscard]] std::size_t count_lines(std::string_view text);

/// A stream seen through blocks of whole lines (about 1 MiB) with 64 KiB of context before and
/// after each, in one buffer that never grows: what a match needs of its neighbours is always at
/// hand. A stream that lies in memory is seen where it lies. A line longer than a block comes in
/// overlapping pieces.
class Window {
 public:
  static constexpr std::size_t k_block = 1U << 20U;
  static constexpr std::size_t k_context = 64U << 10U;
  static constexpr std::size_t k_overlap = 4096;
  static constexpr std::size_t k_least = 128U << 10U;  ///< memory for small files

  /// `memory` is grown once and can be used for one stream after another.
  Window(bundle::ByteStream& stream, std::uint64_t first_line, std::vector<char>& memory);

  /// Moves to the next block; false at the end of the stream.
  [[nodiscard]] bool next();
  [[nodiscard]] std::string_view block() const { return {data_ + begin_, end_ - begin_}; }
  /// Whether the block is the first.
  [[nodiscard]] bool at_start() const { return file_offset(begin_) == 0; }
  /// Offset of the block in the buffer; add an offset in the block to ask for neighbours.
  [[nodiscard]] std::size_t block_begin() const { return begin_; }
  [[nodiscard]] std::uint64_t file_offset(std::size_t in_buffer) const {
    return dropped_ + in_buffer;
  }
  [[nodiscard]] std::uint64_t first_line() const { return line_; }
  [[nodiscard]] bool piece_of_long_line() const { return piece_; }

  /// A line of the context: its text and where it begins in the buffer.
  struct Line {
    std::string_view text;
    std::size_t begin = 0;
  };
  /// The line before the one that begins at `at`, within 64 KiB before `from`.
  [[nodiscard]] std::optional<Line> line_before(std::size_t at, std::size_t from) const;
  /// The line after the one that `at` lies in or ends, within 64 KiB behind `from`.
  [[nodiscard]] std::optional<Line> line_after(std::size_t at, std::size_t from) const;
  /// Up to `count` lines before the line that begins at `at` (buffer offset), nearest first, within
  /// the context.
  [[nodiscard]] std::vector<std::string_view> lines_before(std::size_t at, std::size_t count) const;
  /// Up to `count` lines after the line that ends at `at`, nearest first.
  [[nodiscard]] std::vector<std::string_view> lines_after(std::size_t at, std::size_t count) const;

  [[nodiscard]] std::uint64_t lines() const { return total_lines_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t cut_lines() const { return cut_lines_; }

 private:
  void fill();
  /// How far a block that begins at `from` may reach.
  [[nodiscard]] std::size_t limit_from(std::size_t from) const;
  /// End of the last whole line in [from, limit), else of the first one behind it; `limit` inside a
  /// very long line.
  [[nodiscard]] std::size_t whole_lines_end(std::size_t from, std::size_t limit);

  bundle::ByteStream& stream_;
  std::vector<char>& buffer_;
  const char* data_ = nullptr;  ///< the buffer, or the stream itself where it lies in memory
  bool in_memory_ = false;
  std::size_t used_ = 0;   ///< bytes of data
  std::size_t begin_ = 0;  ///< of the block
  std::size_t end_ = 0;
  std::uint64_t dropped_ = 0;  ///< bytes of the stream before buffer_[0]
  std::uint64_t line_;         ///< number of the block's first line
  std::uint64_t total_lines_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t cut_lines_ = 0;
  bool eof_ = false;
  bool piece_ = false;
  bool open_line_ = false;  ///< the block before ended without a line end
};

}  // namespace triage::analysis
