#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bundle/spool.hpp"
#include "collectors/cap.hpp"
#include "collectors/job.hpp"
#include "collectors/text_facts.hpp"
#include "redact/redactor.hpp"

namespace triage::collectors {

/// Raw output of a program on its way to the spool: decompressed when it is compressed (rotated
/// logs), redacted, capped. The format is taken from the first bytes, since redaction reads JSON
/// otherwise than lines.
class Intake {
 public:
  Intake(const Job& job, std::uint64_t cap, redact::Redactor& redactor, bundle::SpoolFile file)
      : job_(job), redactor_(redactor), file_(std::move(file)), capped_(cap, job.keep) {}

  /// False when the spool can take no more, or nothing more is wanted.
  bool feed(std::string_view bytes);
  void finish();

  [[nodiscard]] const std::optional<base::Problem>& problem() const { return problem_; }
  [[nodiscard]] const CappedText& capped() const { return capped_; }
  [[nodiscard]] std::uint64_t redactions() const { return stream_ ? stream_->counts().total() : 0; }
  [[nodiscard]] bundle::SpoolFile& file() { return file_; }
  /// The first `Job::capture` bytes as they came, and as they went into the bundle.
  [[nodiscard]] std::string& raw() { return raw_; }
  [[nodiscard]] std::string& redacted() { return redacted_; }
  /// The whole output when it is short, else nothing.
  [[nodiscard]] std::string_view sample() const {
    return capped_.seen() <= k_sample ? std::string_view(sample_) : std::string_view();
  }
  [[nodiscard]] const TextFacts& facts() const { return facts_; }

 private:
  static constexpr std::size_t k_sample = 512;

  void open();
  void open_stream(std::string_view head);
  void pass(std::string_view bytes);
  void unpack();
  void take(std::string_view text);
  void write(std::string_view text);

  const Job& job_;
  redact::Redactor& redactor_;
  bundle::SpoolFile file_;
  CappedText capped_;
  std::optional<redact::Stream> stream_;
  std::string held_;
  bool packed_ = false;
  std::string raw_;
  std::string redacted_;
  std::string sample_;
  TextFacts facts_;
  std::optional<base::Problem> problem_;
};

}  // namespace triage::collectors
