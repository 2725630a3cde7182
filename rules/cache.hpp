#pragma once

#include <optional>
#include <string>

#include "rules/loader.hpp"

/// Compiled user packs, kept beside other caches of the person, so that a thousand rules load in
/// milliseconds. The name of an entry is a digest of everything that went into it; an entry that is
/// damaged, foreign or unreadable counts as absent, and a cache that cannot be written is no error.
namespace triage::rules {

class Cache {
 public:
  /// `dir` empty: $XDG_CACHE_HOME/triage or ~/.cache/triage; neither known: no cache.
  explicit Cache(std::string dir);

  [[nodiscard]] std::optional<Loaded> read(const std::string& key) const;
  void write(const std::string& key, const Loaded& loaded) const;

 private:
  [[nodiscard]] std::string path_of(const std::string& key) const;
  void prune() const;

  std::string dir_;
};

}  // namespace triage::rules
