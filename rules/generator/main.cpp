// Bakes the built-in packs and catalogs: reads them, checks them, runs their samples and writes the
// bytes that the binary holds. A mistake is printed as file:line:column and fails the build.
//
// usage: triage_rulegen OUTPUT FILE... (*.yaml packs, *.tsv catalogs)

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "rules/catalog.hpp"
#include "rules/check.hpp"
#include "rules/merge.hpp"
#include "rules/samples.hpp"
#include "rules/serialise.hpp"

namespace {

using namespace triage::rules;  // NOLINT(google-build-using-namespace): one small program

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

int print(const std::vector<Diagnostic>& diagnostics) {
  int errors = 0;
  for (const Diagnostic& d : diagnostics) {
    // Warnings are for `triage rules lint`: a build speaks of what stops it.
    if (d.level != Diagnostic::Level::error) continue;
    ++errors;
    std::fputs(d.to_string().c_str(), stderr);
  }
  return errors;
}

int run_samples(const RuleSet& rules) {
  int failures = 0;
  for (const Rule& rule : rules.rules)
    for (const SampleResult& result : test_samples(rule, rules)) {
      if (result.passed) continue;
      ++failures;
      std::fprintf(stderr, "%s:%u:%u: error: %s: %s [sample]\n    %s\n", result.place.file.c_str(),
                   result.place.line, result.place.column, rule.id.c_str(), result.reason.c_str(),
                   result.shown.c_str());
    }
  return failures;
}

/// Places inside the binary name the pack, not the folder of the build.
void rename_places(RuleSet& rules) {
  const auto rename = [](SourcePlace& place) {
    place.file = "<built-in>/" + std::filesystem::path(place.file).filename().string();
  };
  for (Rule& rule : rules.rules) {
    rename(rule.place);
    for (Sample& sample : rule.samples.edit().match) rename(sample.place);
    for (Sample& sample : rule.samples.edit().reject) rename(sample.place);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  Merger merger{RuleSet()};
  std::vector<Diagnostic> diagnostics;
  const auto keep = [&](const std::vector<Diagnostic>& more) {
    diagnostics.insert(diagnostics.end(), more.begin(), more.end());
  };
  for (int i = 2; i < argc; ++i) {
    const std::filesystem::path path(argv[i]);
    const std::string text = read_file(argv[i]);
    if (path.extension() == ".tsv") {
      std::vector<Diagnostic> found;
      CatalogTable table = read_catalog(text, path.stem().string(), argv[i], found);
      if (found.empty()) found = check_catalog(table, text, argv[i]);
      keep(found);
      merger.add_catalog(std::move(table));
    } else {
      Pack pack = read_pack(text, argv[i]);
      keep(check_literals(pack));
      merger.add(std::move(pack));
    }
  }
  keep(merger.diagnostics());
  keep(check_packs(merger.packs(), merger.rules()));
  // What a user may leave open (a pack of theirs may define it later), the built-in packs may not.
  for (Diagnostic& d : diagnostics)
    if (d.code == "unknown-rule" || d.code == "unknown-tag" || d.code == "unknown-cause")
      d.level = Diagnostic::Level::error;
  int errors = print(diagnostics);
  RuleSet rules = merger.take();
  errors += run_samples(rules);
  if (errors > 0) {
    std::fprintf(stderr, "%d mistakes in the built-in packs\n", errors);
    return 1;
  }
  rename_places(rules);
  std::ofstream out(argv[1], std::ios::binary);
  const std::string bytes = to_bytes(rules);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return out.good() ? 0 : 1;
}
