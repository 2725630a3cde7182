#pragma once

#include <string>
#include <string_view>

#include "bundle/manifest.hpp"

namespace triage::collectors {

/// What a row of the manifest says of the text that was kept: how it is encoded, which times its
/// lines carry and from when to when. Sees the text once, in pieces; memory: two small windows.
class TextFacts {
 public:
  void feed(std::string_view text);
  /// Fills in `encoding`, `time_format`, `time_first` and `time_last`.
  void describe(bundle::ManifestItem& row) const;

 private:
  void look_at_bytes(std::string_view text);

  std::string head_;
  std::string tail_;
  bool ascii_ = true;
  bool valid_ = true;
  int follow_ = 0;  ///< continuation bytes that must come next
};

}  // namespace triage::collectors
