#pragma once

#include <map>
#include <string>
#include <vector>

#include "rules/pack_reader.hpp"

/// Second stage of loading: packs and catalogs, layer by layer, to one RuleSet.
namespace triage::rules {

class Merger {
 public:
  explicit Merger(RuleSet base);

  /// Later `add`s belong to a new layer, which may override and disable what is there.
  void next_layer();
  /// Lays a pack over the rules. A pack with any error is left out whole; its diagnostics are kept.
  void add(Pack pack);
  void add_catalog(CatalogTable table);

  [[nodiscard]] const RuleSet& rules() const { return rules_; }
  [[nodiscard]] const std::vector<Pack>& packs() const { return packs_; }
  [[nodiscard]] std::vector<Diagnostic>& diagnostics() { return diagnostics_; }
  /// The rules with their digest.
  [[nodiscard]] RuleSet take();

 private:
  void lay(const Pack& pack, RuleSet& rules, std::vector<Diagnostic>& diagnostics) const;

  RuleSet rules_;
  std::map<std::string, int> layer_of_;  ///< by rule id
  int layer_ = 0;
  std::vector<Pack> packs_;  ///< that were taken, for checks that need places
  std::vector<Diagnostic> diagnostics_;
};

/// SHA-256 of the rules without their digest, 16 hexadecimal digits.
[[nodiscard]] std::string digest_of(const RuleSet& rules);

}  // namespace triage::rules
