#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/digest.hpp"
#include "rules/built_in.hpp"
#include "rules/cache.hpp"
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

namespace {

struct Source {
  std::string file;
  std::string text;
};
using Layer = std::vector<Source>;

base::Result<std::vector<Layer>> read_layers(const LoadOptions& options) {
  auto layers = layers_of(options);
  if (!layers.ok()) return layers.problem();
  std::vector<Layer> read;
  for (const std::vector<std::string>& files : *layers) {
    Layer layer;
    for (const std::string& file : files) {
      auto text = read_source(file);
      if (!text.ok()) return text.problem();
      layer.push_back({file, std::move(*text)});
    }
    read.push_back(std::move(layer));
  }
  return read;
}

/// Everything that decides what the rules become.
std::string key_of(const std::vector<Layer>& layers, const LoadOptions& options) {
  base::Sha256 sum;
  const auto add = [&](std::string_view part) {
    sum.update(std::to_string(part.size()) + ":");
    sum.update(part);
  };
  add(TRIAGE_VERSION);
  add(options.built_in ? built_in_digest() : "none");
  for (const Layer& layer : layers) {
    add("layer");
    for (const Source& source : layer) {
      add(source.file);
      add(source.text);
    }
  }
  return base::to_hex(sum.finish());
}

Loaded compile(const std::vector<Layer>& layers, const LoadOptions& options) {
  Merger merger(options.built_in ? read_built_in_rules() : RuleSet());
  for (const Layer& layer : layers) {
    merger.next_layer();
    for (const Source& source : layer) add_source(merger, source.file, source.text);
  }
  Loaded loaded;
  // A reference that leads nowhere does no harm: the rule stays, the person is told.
  for (Diagnostic& d : check_packs(merger.packs(), merger.rules())) {
    d.level = Diagnostic::Level::warning;
    merger.diagnostics().push_back(std::move(d));
  }
  loaded.diagnostics = merger.diagnostics();
  loaded.rules = merger.take();
  return loaded;
}

}  // namespace

base::Result<Loaded> load_rules(const LoadOptions& options) {
  auto layers = read_layers(options);
  if (!layers.ok()) return layers.problem();
  Loaded loaded;
  if (layers->empty()) {
    if (options.built_in) loaded.rules = read_built_in_rules();
    return loaded;
  }
  const Cache cache(options.cache_dir);
  const std::string key = options.cache ? key_of(*layers, options) : std::string();
  auto cached = options.cache ? cache.read(key) : std::nullopt;
  if (cached) {
    loaded = std::move(*cached);
  } else {
    loaded = compile(*layers, options);
    if (options.cache) cache.write(key, loaded);
  }
  if (!options.strict) return loaded;
  for (const Diagnostic& d : loaded.diagnostics) {
    if (d.level != Diagnostic::Level::error) continue;
    std::string where =
        d.place.file + ":" + std::to_string(d.place.line) + ":" + std::to_string(d.place.column);
    return base::Problem{d.message + " [" + d.code + "]", std::move(where), d.mend};
  }
  return loaded;
}

}  // namespace triage::rules
