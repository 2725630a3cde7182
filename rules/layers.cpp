#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "rules/catalog.hpp"
#include "rules/check.hpp"
#include "rules/loader.hpp"
#include "rules/merge.hpp"
#include "rules/sources.hpp"

namespace triage::rules {
namespace {

std::string config_home() {
  if (const char* dir = std::getenv("XDG_CONFIG_HOME"); dir != nullptr && *dir == '/') return dir;
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return std::string(home) + "/.config";
  return {};
}

/// Layers of files, each later than the one before.
base::Result<std::vector<std::vector<std::string>>> layers_of(const LoadOptions& options) {
  std::vector<std::vector<std::string>> layers;
  if (options.system_layers) {
    const std::string config = config_home();
    for (const std::string& dir : {std::string("/etc/triage/rules.d"),
                                   config.empty() ? config : config + "/triage/rules.d"}) {
      std::error_code error;
      if (dir.empty() || !std::filesystem::is_directory(dir, error)) continue;
      if (auto files = rule_files(dir)) layers.push_back(std::move(*files));
    }
  }
  for (const std::string& path : options.paths) {
    auto files = rule_files(path);
    if (!files.ok()) return files.problem();
    layers.push_back(std::move(*files));
  }
  return layers;
}

}  // namespace

base::Result<Loaded> load_rules(const LoadOptions& options) {
  auto layers = layers_of(options);
  if (!layers.ok()) return layers.problem();
  Loaded loaded;
  if (layers->empty()) {
    if (options.built_in) loaded.rules = built_in_rules();
    return loaded;
  }
  Merger merger(options.built_in ? built_in_rules() : RuleSet());
  for (const std::vector<std::string>& files : *layers) {
    merger.next_layer();
    for (const std::string& file : files)
      if (auto problem = add_source(merger, file)) return *problem;
  }
  for (Diagnostic& d : check_packs(merger.packs(), merger.rules())) {
    if (!options.strict) d.level = Diagnostic::Level::warning;
    merger.diagnostics().push_back(std::move(d));
  }
  loaded.diagnostics = merger.diagnostics();
  loaded.rules = merger.take();
  if (options.strict)
    for (const Diagnostic& d : loaded.diagnostics)
      if (d.level == Diagnostic::Level::error) {
        std::string where = d.place.file + ":" + std::to_string(d.place.line) + ":" +
                            std::to_string(d.place.column);
        return base::Problem{d.message + " [" + d.code + "]", std::move(where), d.mend};
      }
  return loaded;
}

}  // namespace triage::rules
