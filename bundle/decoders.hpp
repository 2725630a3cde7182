#pragma once

#include <memory>
#include <string_view>

#include "bundle/input.hpp"

/// Decompression of single streams.
///
/// libarchive could do this too, but its filters work in blocks of 64 KiB and more and drop the
/// block in which a truncated file ends: of a small bundle from a killed collector nothing would be
/// left. These decoders give every byte up to the damage. gzip goes through ISA-L, which inflates
/// at about twice the speed of zlib on the logs of the benchmark.
namespace triage::bundle {

enum class Compression : std::uint8_t { none, gzip, bzip2, xz, zstd, lz4 };

[[nodiscard]] std::string_view to_string(Compression compression);
/// By magic number; needs the first 6 bytes.
[[nodiscard]] Compression sniff_compression(std::string_view head);

/// Where a ratio of output to input stops being honest.
struct RatioLimit {
  std::uint64_t from = 0;  ///< bytes of output from which the ratio counts
  double max_ratio = 0;
};

/// Reads all members, frames or concatenated streams of `source`, which must outlive the decoder.
[[nodiscard]] std::unique_ptr<ByteStream> make_decoder(Compression compression, ByteStream& source,
                                                       RatioLimit ratio);

}  // namespace triage::bundle
