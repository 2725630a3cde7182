#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>

#include "base/text.hpp"
#include "bundle/input.hpp"
#include "bundle/verify.hpp"
#include "cli/commands.hpp"
#include "redact/redactor.hpp"

namespace triage::cli {
namespace {

struct Options {
  std::string bundle;
};

constexpr const char* k_examples = R"(Examples:
  triage verify triage-chat-0-20260112T084107Z-ab12cd.tar.gz
  triage verify unpacked-bundle/ && echo sound)";

/// Looks for credentials, prompts and outputs that redaction should have masked.
class Residue final : public bundle::MemberInspector {
 public:
  Residue() : redactor_(fixed()) {}

  void begin(const std::string& path, evidence::Kind kind) override {
    path_ = path;
    kind_ = kind;
    held_.clear();
    stream_.reset();
  }
  void feed(std::string_view bytes) override {
    if (stream_) return stream_->feed(bytes, ignore());
    held_.append(bytes);
    if (held_.size() >= k_head) open();
  }
  void end() override {
    if (!stream_) open();
    stream_->finish(ignore());
    if (const auto left = stream_->counts().tier1(); left > 0) found.push_back({path_, left});
    stream_.reset();
  }

  struct Left {
    std::string path;
    std::uint64_t count = 0;
  };
  std::vector<Left> found;

 private:
  static constexpr std::size_t k_head = 64 * 1024;
  static redact::Options fixed() {
    redact::Options options;
    options.placeholders = redact::Options::Placeholders::fixed;
    return options;
  }
  static redact::Sink ignore() {
    return [](std::string_view) {};
  }
  void open() {
    const auto seen = bundle::recognise(std::string_view(held_).substr(0, k_head), path_);
    stream_.emplace(redactor_.check({path_, kind_, seen.format}));
    stream_->feed(held_, ignore());
    held_.clear();
  }

  redact::Redactor redactor_;
  std::optional<redact::Stream> stream_;
  std::string path_;
  std::string held_;
  evidence::Kind kind_ = evidence::Kind::unknown_text;
};

void run(const Options& options, Context& context) {
  Residue residue;
  const auto checked = bundle::verify_bundle(options.bundle, &residue);
  if (!checked) return context.fail(Exit::nothing_read, checked.problem());
  for (const auto& finding : checked->findings)
    std::printf("%s%s%s\n", finding.path.c_str(), finding.path.empty() ? "" : ": ",
                finding.message.c_str());
  for (const auto& left : residue.found)
    std::printf("%s: holds %llu credentials or texts of users that redaction masks\n",
                left.path.c_str(), static_cast<unsigned long long>(left.count));
  if (!checked->findings.empty() || !residue.found.empty()) {
    context.exit = Exit::check_failed;
    return;
  }
  const auto& manifest = checked->manifest;
  std::size_t absent = 0;
  for (const auto& item : manifest.items) absent += item.path.empty() ? 1 : 0;
  std::printf("sound: %llu files, %s; digests, layout and redaction hold\n",
              static_cast<unsigned long long>(checked->members),
              base::format_bytes(static_cast<std::int64_t>(checked->bytes)).c_str());
  if (!manifest.complete) std::printf("incomplete: its collection was cut short\n");
  if (absent > 0)
    std::printf("%zu of %zu wanted pieces of evidence are missing; the manifest says why\n", absent,
                manifest.items.size());
}

}  // namespace

void add_verify(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("verify", "Check a bundle's digests, layout and redaction");
  Options& options = context.keep<Options>();
  command->add_option("BUNDLE", options.bundle, "A bundle, or the directory it unpacked to")
      ->required()
      ->option_text(" ");
  command->footer(k_examples);
  command->callback([&options, &context] { run(options, context); });
}

}  // namespace triage::cli
