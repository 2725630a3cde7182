#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <deque>

#include "base/text.hpp"
#include "bundle/input.hpp"
#include "cli/commands.hpp"
#include "report/display.hpp"

namespace triage::cli {
namespace {

struct Options {
  std::string input;
  std::string place;
  std::uint64_t context = 5;
};

/// Prints the wanted line and its neighbours of one stream; false when the stream ends before it.
class Window {
 public:
  Window(std::uint64_t wanted, std::uint64_t around, std::uint64_t first)
      : wanted_(wanted), around_(around), number_(first) {}

  bool print(bundle::ByteStream& stream) {
    std::vector<char> buffer(256U << 10U);
    std::string line;
    while (const std::size_t got = stream.read(buffer)) {
      for (std::size_t i = 0; i < got; ++i) {
        if (buffer[i] != '\n') {
          if (line.size() < k_most_shown) line += buffer[i];
          continue;
        }
        take(line);
        line.clear();
        if (number_ > wanted_ + around_) return true;
      }
    }
    if (!line.empty()) take(line);
    return number_ > wanted_;
  }

 private:
  static constexpr std::size_t k_most_shown = 64U << 10U;

  void take(const std::string& line) {
    const std::uint64_t number = number_++;
    if (number + around_ < wanted_ || number > wanted_ + around_) return;
    fmt::print("{} {:>7}  {}\n", number == wanted_ ? '>' : ' ', number, report::visible(line));
  }

  std::uint64_t wanted_;
  std::uint64_t around_;
  std::uint64_t number_;
};

bool ends_with_path(const std::string& path, const std::string& wanted) {
  return path == wanted ||
         (path.size() > wanted.size() &&
          path.compare(path.size() - wanted.size() - 1, std::string::npos, "/" + wanted) == 0);
}

void run(const Options& options, Context& context) {
  const auto colon = options.place.rfind(':');
  const auto line = colon == std::string::npos
                        ? std::nullopt
                        : base::parse_int(std::string_view(options.place).substr(colon + 1));
  if (!line || *line < 1)
    throw UsageError{"'" + options.place +
                     "' is no place; write FILE:LINE as reports print it, dmesg.txt:41"};
  const std::string wanted = options.place.substr(0, colon);
  bool file_found = false;
  bool printed = false;
  std::vector<std::string> seen;
  const auto summary = bundle::read_inputs(
      {options.input}, {},
      [&](const bundle::EvidenceFile& file, std::string_view, bundle::ByteStream& stream) {
        seen.push_back(file.path);
        if (!ends_with_path(file.path, wanted)) return true;
        file_found = true;
        printed = Window(static_cast<std::uint64_t>(*line), options.context, file.first_line)
                      .print(stream);
        return !printed;
      });
  if (!summary) return context.fail(Exit::nothing_read, summary.problem());
  if (!file_found) {
    const std::string near = base::nearest(wanted, seen);
    return context.fail(Exit::usage,
                        base::Problem{"no file of this name in the input", wanted,
                                      "triage ls shows the files" +
                                          (near.empty() ? near : "; the nearest is " + near)});
  }
  if (!printed)
    context.fail(Exit::usage, base::Problem{"the file has fewer lines", options.place, ""});
}

}  // namespace

void add_show(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("show", "Print a line that a report cites, with the lines around it");
  Options& options = context.keep<Options>();
  command->add_option("INPUT", options.input, "Bundle, directory or file")
      ->required()
      ->option_text(" ");
  command->add_option("FILE:LINE", options.place, "As reports print it")
      ->required()
      ->option_text(" ");
  command->add_option("-C,--context", options.context, "Lines before and after; default 5")
      ->check(CLI::Range(0, 10000))
      ->option_text("N");
  command->footer("Example:\n  triage show incident.tar.gz node-b/dmesg.txt:41 -C 10");
  command->callback([&options, &context] { run(options, context); });
}

}  // namespace triage::cli
