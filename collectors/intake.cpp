#include "collectors/intake.hpp"

#include <utility>
#include <vector>

#include "bundle/decoders.hpp"
#include "bundle/input.hpp"
#include "bundle/streams.hpp"

namespace triage::collectors {
namespace {

constexpr std::size_t k_head = 64 * 1024;

}  // namespace

bool Intake::feed(std::string_view bytes) {
  if (raw_.size() < job_.capture) raw_.append(bytes.substr(0, job_.capture - raw_.size()));
  if (packed_ || stream_) {
    pass(bytes);
  } else {
    held_.append(bytes);
    if (held_.size() >= k_head) open();
  }
  // A head that is full needs no more; the rest would only be redacted for nothing.
  const bool full = job_.keep == Keep::head && capped_.seen() > capped_.kept();
  return !problem_ && !full;
}

void Intake::finish() {
  if (!packed_ && !stream_) open();
  if (packed_) unpack();
  if (stream_) stream_->finish([&](std::string_view text) { take(text); });
  capped_.finish([&](std::string_view text) { write(text); });
}

void Intake::open() {
  if (bundle::sniff_compression(held_) != bundle::Compression::none) {
    packed_ = true;
    return;
  }
  open_stream(held_);
  const std::string first = std::exchange(held_, {});
  pass(first);
}

void Intake::open_stream(std::string_view head) {
  const auto seen = bundle::recognise(head.substr(0, k_head), job_.path);
  stream_.emplace(redactor_.open({job_.path, job_.role, seen.format}));
}

void Intake::pass(std::string_view bytes) {
  if (packed_) {
    constexpr std::size_t k_packed_limit = 64U << 20U;
    if (held_.size() < k_packed_limit) held_.append(bytes.substr(0, k_packed_limit - held_.size()));
    return;
  }
  stream_->feed(bytes, [&](std::string_view text) { take(text); });
}

void Intake::unpack() {
  const auto compression = bundle::sniff_compression(held_);
  bundle::MemoryStream packed(std::move(held_));
  const auto decoder = bundle::make_decoder(compression, packed, {});
  bundle::PeekStream text(*decoder);
  open_stream(text.peek(k_head));
  std::vector<char> buffer(k_head);
  constexpr std::uint64_t k_unpacked_limit = 1ULL << 30U;
  std::uint64_t total = 0;
  while (const std::size_t got = text.read(buffer)) {
    total += got;
    if (total > k_unpacked_limit || problem_) break;
    stream_->feed({buffer.data(), got}, [&](std::string_view piece) { take(piece); });
  }
}

void Intake::take(std::string_view text) {
  if (sample_.size() < k_sample) sample_.append(text.substr(0, k_sample - sample_.size()));
  if (redacted_.size() < job_.capture)
    redacted_.append(text.substr(0, job_.capture - redacted_.size()));
  capped_.feed(text, [&](std::string_view piece) { write(piece); });
}

void Intake::write(std::string_view text) {
  if (problem_) return;
  facts_.feed(text);
  if (auto wrote = file_.write(text); !wrote) problem_ = wrote.problem();
}

}  // namespace triage::collectors
