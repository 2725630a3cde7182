#include "bundle/decoders.hpp"

#include <bzlib.h>
#include <isa-l/igzip_lib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace triage::bundle {
namespace {

/// What one call into a decompression library did.
struct Step {
  enum class State : std::uint8_t { more, frame_end, broken };
  std::size_t consumed = 0;
  std::size_t produced = 0;
  State state = State::more;
};

/// One decompression library behind a common face.
class Codec {
 public:
  virtual ~Codec() = default;
  virtual Step step(std::span<const char> in, std::span<char> out) = 0;
  /// Makes ready for another member or frame.
  virtual bool restart() = 0;
};

class GzipCodec final : public Codec {
 public:
  GzipCodec() : state_(std::make_unique<inflate_state>()) { begin(); }
  Step step(std::span<const char> in, std::span<char> out) override {
    // ISA-L keeps decoded bytes back until it is called again, also without new input.
    state_->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(in.data()));
    state_->avail_in = clamp(in.size());
    state_->next_out = reinterpret_cast<std::uint8_t*>(out.data());
    state_->avail_out = clamp(out.size());
    const auto given_in = state_->avail_in;
    const auto given_out = state_->avail_out;
    const int code = isal_inflate(state_.get());
    Step result{given_in - state_->avail_in, given_out - state_->avail_out, Step::State::more};
    if (code != ISAL_DECOMP_OK && code != ISAL_END_INPUT) {
      result.state = Step::State::broken;
    } else if (state_->block_state == ISAL_BLOCK_FINISH) {
      result.state = Step::State::frame_end;
    }
    return result;
  }
  bool restart() override {
    begin();
    return true;
  }

 private:
  static std::uint32_t clamp(std::size_t size) {
    return static_cast<std::uint32_t>(
        std::min<std::size_t>(size, std::numeric_limits<std::int32_t>::max()));
  }
  void begin() {
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_GZIP;
  }
  std::unique_ptr<inflate_state> state_;
};

class Bzip2Codec final : public Codec {
 public:
  Bzip2Codec() { ready_ = BZ2_bzDecompressInit(&stream_, 0, 0) == BZ_OK; }
  Bzip2Codec(const Bzip2Codec&) = delete;
  Bzip2Codec& operator=(const Bzip2Codec&) = delete;
  ~Bzip2Codec() override { BZ2_bzDecompressEnd(&stream_); }
  Step step(std::span<const char> in, std::span<char> out) override {
    if (!ready_) return {0, 0, Step::State::broken};
    constexpr std::size_t k_max = std::numeric_limits<unsigned>::max() / 2;
    stream_.next_in = const_cast<char*>(in.data());
    stream_.avail_in = static_cast<unsigned>(std::min(in.size(), k_max));
    stream_.next_out = out.data();
    stream_.avail_out = static_cast<unsigned>(std::min(out.size(), k_max));
    const unsigned given_in = stream_.avail_in;
    const unsigned given_out = stream_.avail_out;
    const int code = BZ2_bzDecompress(&stream_);
    Step result{given_in - stream_.avail_in, given_out - stream_.avail_out, Step::State::more};
    if (code == BZ_STREAM_END) {
      result.state = Step::State::frame_end;
    } else if (code != BZ_OK) {
      result.state = Step::State::broken;
    }
    return result;
  }
  bool restart() override {
    BZ2_bzDecompressEnd(&stream_);
    stream_ = {};
    ready_ = BZ2_bzDecompressInit(&stream_, 0, 0) == BZ_OK;
    return ready_;
  }

 private:
  bz_stream stream_{};
  bool ready_ = false;
};

class XzCodec final : public Codec {
 public:
  XzCodec() { begin(); }
  XzCodec(const XzCodec&) = delete;
  XzCodec& operator=(const XzCodec&) = delete;
  ~XzCodec() override { lzma_end(&stream_); }
  Step step(std::span<const char> in, std::span<char> out) override {
    if (!ready_) return {0, 0, Step::State::broken};
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream_.avail_out = out.size();
    const lzma_ret code = lzma_code(&stream_, LZMA_RUN);
    Step result{in.size() - stream_.avail_in, out.size() - stream_.avail_out, Step::State::more};
    if (code == LZMA_STREAM_END) {
      result.state = Step::State::frame_end;
    } else if (code != LZMA_OK && code != LZMA_BUF_ERROR) {
      result.state = Step::State::broken;
    }
    return result;
  }
  bool restart() override {
    lzma_end(&stream_);
    begin();
    return ready_;
  }

 private:
  void begin() {
    stream_ = LZMA_STREAM_INIT;
    // A dictionary of more than 256 MiB comes from no log archiver, only from hostile files.
    constexpr std::uint64_t k_memory = 320ULL << 20U;
    ready_ = lzma_stream_decoder(&stream_, k_memory, 0) == LZMA_OK;
  }
  lzma_stream stream_{};
  bool ready_ = false;
};

class ZstdCodec final : public Codec {
 public:
  ZstdCodec() : stream_(ZSTD_createDStream()) {
    // `zstd --long=27` is the largest window the command line tool reads without being told.
    if (stream_ != nullptr) ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, 27);
  }
  ZstdCodec(const ZstdCodec&) = delete;
  ZstdCodec& operator=(const ZstdCodec&) = delete;
  ~ZstdCodec() override { ZSTD_freeDStream(stream_); }
  Step step(std::span<const char> in, std::span<char> out) override {
    if (stream_ == nullptr) return {0, 0, Step::State::broken};
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    const std::size_t code = ZSTD_decompressStream(stream_, &output, &input);
    Step result{input.pos, output.pos, Step::State::more};
    if (ZSTD_isError(code) != 0) {
      result.state = Step::State::broken;
    } else if (code == 0) {
      result.state = Step::State::frame_end;
    }
    return result;
  }
  bool restart() override { return true; }

 private:
  ZSTD_DStream* stream_;
};

class Lz4Codec final : public Codec {
 public:
  Lz4Codec() {
    ready_ = LZ4F_isError(LZ4F_createDecompressionContext(&context_, LZ4F_VERSION)) == 0;
  }
  Lz4Codec(const Lz4Codec&) = delete;
  Lz4Codec& operator=(const Lz4Codec&) = delete;
  ~Lz4Codec() override { LZ4F_freeDecompressionContext(context_); }
  Step step(std::span<const char> in, std::span<char> out) override {
    if (!ready_) return {0, 0, Step::State::broken};
    std::size_t consumed = in.size();
    std::size_t produced = out.size();
    const std::size_t code =
        LZ4F_decompress(context_, out.data(), &produced, in.data(), &consumed, nullptr);
    if (LZ4F_isError(code) != 0) {
      ready_ = false;
      return {consumed, 0, Step::State::broken};
    }
    return {consumed, produced, code == 0 ? Step::State::frame_end : Step::State::more};
  }
  bool restart() override { return ready_; }

 private:
  LZ4F_dctx* context_ = nullptr;
  bool ready_ = false;
};

class DecoderStream final : public ByteStream {
 public:
  DecoderStream(Compression compression, std::unique_ptr<Codec> codec, ByteStream& source,
                RatioLimit ratio)
      : compression_(compression),
        codec_(std::move(codec)),
        source_(source),
        ratio_(ratio),
        input_(k_input) {}

  [[nodiscard]] std::size_t read(std::span<char> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size() && !ended_) filled += advance(buffer.subspan(filled));
    produced_ += filled;
    return filled;
  }
  [[nodiscard]] const std::optional<std::string>& damage() const override {
    return damage_ ? damage_ : source_.damage();
  }

 private:
  static constexpr std::size_t k_input = 256 * 1024;

  void refill() {
    if (source_ended_) return;
    const std::size_t left = end_ - begin_;
    std::memmove(input_.data(), input_.data() + begin_, left);
    begin_ = 0;
    end_ = left;
    const std::size_t got = source_.read(std::span<char>(input_).subspan(end_));
    end_ += got;
    consumed_ += got;
    source_ended_ = got == 0;
  }

  void stop(std::string why) {
    ended_ = true;
    if (!why.empty() && !damage_) damage_ = std::move(why);
  }

  std::size_t advance(std::span<char> out) {
    if (between_frames_ && !enter_next_frame()) return 0;
    if (begin_ == end_) refill();
    const Step step =
        codec_->step(std::span<const char>(input_).subspan(begin_, end_ - begin_), out);
    begin_ += step.consumed;
    if (step.state == Step::State::broken) {
      stop(std::string("the ") + std::string(to_string(compression_)) +
           " data is damaged; read up to the damage");
    } else if (step.state == Step::State::frame_end) {
      between_frames_ = true;
    } else if (step.consumed == 0 && step.produced == 0 && source_ended_) {
      stop(std::string("the ") + std::string(to_string(compression_)) +
           " data ends early (truncated); read up to its end");
    }
    if (ratio_.max_ratio > 0 && produced_ > ratio_.from &&
        static_cast<double>(produced_) > ratio_.max_ratio * static_cast<double>(consumed_)) {
      stop("expands beyond any honest compression ratio; the rest was not read");
    }
    return step.produced;
  }

  /// After a member: another one, padding, or something that does not belong.
  bool enter_next_frame() {
    constexpr std::size_t k_magic = 6;
    while (end_ - begin_ < k_magic && !source_ended_) refill();
    // tar and xz pad with zeros.
    while (begin_ < end_ && input_[begin_] == '\0') {
      ++begin_;
      if (begin_ == end_) refill();
    }
    while (end_ - begin_ < k_magic && !source_ended_) refill();
    const std::string_view rest(input_.data() + begin_, end_ - begin_);
    if (rest.empty()) {
      stop("");
      return false;
    }
    if (sniff_compression(rest) != compression_ || !codec_->restart()) {
      // One byte or a few can be the beginning of a member that a killed tool was writing.
      stop("something else follows the compressed data; it was not read");
      return false;
    }
    between_frames_ = false;
    return true;
  }

  Compression compression_;
  std::unique_ptr<Codec> codec_;
  ByteStream& source_;
  RatioLimit ratio_;
  std::vector<char> input_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t consumed_ = 0;
  std::uint64_t produced_ = 0;
  bool source_ended_ = false;
  bool between_frames_ = false;
  bool ended_ = false;
  std::optional<std::string> damage_;
};

std::unique_ptr<Codec> make_codec(Compression compression) {
  switch (compression) {
    case Compression::gzip:
      return std::make_unique<GzipCodec>();
    case Compression::bzip2:
      return std::make_unique<Bzip2Codec>();
    case Compression::xz:
      return std::make_unique<XzCodec>();
    case Compression::zstd:
      return std::make_unique<ZstdCodec>();
    case Compression::lz4:
      return std::make_unique<Lz4Codec>();
    case Compression::none:
      break;
  }
  return nullptr;
}

}  // namespace

std::string_view to_string(Compression compression) {
  switch (compression) {
    case Compression::none:
      return "none";
    case Compression::gzip:
      return "gzip";
    case Compression::bzip2:
      return "bzip2";
    case Compression::xz:
      return "xz";
    case Compression::zstd:
      return "zstd";
    case Compression::lz4:
      return "lz4";
  }
  return "none";
}

Compression sniff_compression(std::string_view head) {
  const auto starts = [&](std::string_view magic) { return head.substr(0, magic.size()) == magic; };
  if (starts(std::string_view("\x1f\x8b\x08", 3))) return Compression::gzip;
  if (starts("BZh") && head.size() > 4 && head[3] >= '1' && head[3] <= '9' &&
      (head[4] == '1' || head[4] == '\x17'))
    return Compression::bzip2;
  if (starts(std::string_view("\xfd\x37\x7a\x58\x5a\x00", 6))) return Compression::xz;
  if (starts("\x28\xb5\x2f\xfd")) return Compression::zstd;
  // A skippable frame in front of zstd or lz4 data (pzstd writes them).
  if (head.size() >= 4 && (static_cast<unsigned char>(head[0]) & 0xf0U) == 0x50U &&
      head.substr(1, 3) == "\x2a\x4d\x18")
    return Compression::zstd;
  if (starts("\x04\x22\x4d\x18")) return Compression::lz4;
  return Compression::none;
}

std::unique_ptr<ByteStream> make_decoder(Compression compression, ByteStream& source,
                                         RatioLimit ratio) {
  return std::make_unique<DecoderStream>(compression, make_codec(compression), source, ratio);
}

}  // namespace triage::bundle
