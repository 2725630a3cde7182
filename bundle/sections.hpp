#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "bundle/input.hpp"
#include "bundle/streams.hpp"

/// Text files that hold several pieces of evidence one after another are shown as one file per
/// piece, with line numbers of the whole.
namespace triage::bundle {

enum class Sectioned : std::uint8_t {
  none,
  nvidia_bug_report,  ///< sections between lines of underscores
  cluster_info_dump,  ///< Kubernetes objects, then `==== START logs for container ...` blocks
  rocm_techsupport,   ///< `===== Section: NAME ====`
};

[[nodiscard]] Sectioned sniff_sections(std::string_view head);

struct Section {
  std::string title;
  std::uint64_t first_line = 1;
  evidence::Place place;
  std::optional<evidence::Kind> kind;  ///< when the title tells
};

/// Shows every section that is not empty; `visit` returns false to stop. What a section's visitor
/// leaves unread is skipped.
void split_sections(Sectioned form, ByteStream& source,
                    const std::function<bool(const Section&, PeekStream&)>& visit);

}  // namespace triage::bundle
