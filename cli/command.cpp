#include "cli/command.hpp"

#include <unistd.h>

#include <cstdlib>

namespace triage::cli {

bool Context::colour_on(std::FILE* stream) const {
  if (colour != Colour::automatic) return colour == Colour::always;
  const char* no_colour = std::getenv("NO_COLOR");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  const char* term = std::getenv("TERM");
  if (term != nullptr && std::string(term) == "dumb") return false;
  return isatty(fileno(stream)) == 1;
}

void Context::fail(Exit status, const base::Problem& problem) {
  exit = status;
  std::fprintf(stderr, "triage: %s\n", problem.to_string().c_str());
}

void Context::note(const std::string& message) const {
  if (!quiet) std::fprintf(stderr, "%s\n", message.c_str());
}

bool flush_output() {
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

}  // namespace triage::cli
