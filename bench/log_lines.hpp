#pragma once

#include <cstdint>
#include <string>

namespace triage::bench {

/// Small and the same on every machine: inputs must not depend on the standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
  }
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }

 private:
  std::uint64_t state_;
};

/// Writes the lines that a healthy inference service or node writes all day. Time moves on with
/// every line. Nothing here is taken from the rules: what they find in it is what they would find
/// in the field.
class LineWriter {
 public:
  explicit LineWriter(std::uint64_t seed) : random_(seed) {}

  /// One line of an inference engine: access log, statistics, scheduler, NCCL chatter, warnings.
  void engine(std::string& out);
  /// One line of a kernel log without faults.
  void kernel(std::string& out);
  /// One line of a gateway's access log in JSON.
  void gateway(std::string& out);
  /// Words without a line end.
  void words(std::string& out, std::size_t bytes);
  [[nodiscard]] Random& random() { return random_; }

 private:
  void tick(std::uint64_t ms) { now_ms_ += random_.below(2 * ms); }

  Random random_;
  std::uint64_t now_ms_ = 0;  ///< since the first line
};

}  // namespace triage::bench
