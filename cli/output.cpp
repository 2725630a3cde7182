#include "cli/output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/text.hpp"

namespace triage::cli {
namespace {

base::Problem problem_of(const std::string& path, const char* what, int error) {
  return {std::string(what) + ": " + std::strerror(error), path, ""};
}

/// Writes all of it; 0 or errno.
int write_all(int descriptor, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(descriptor, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    done += static_cast<std::size_t>(count);
  }
  return 0;
}

/// A pipe, a device or a terminal is written in place: a rename would replace it.
bool is_special(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

base::Status write_in_place(const std::string& path, const std::string& text) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return problem_of(path, "cannot be written", errno);
  const int error = write_all(descriptor, text);
  ::close(descriptor);
  if (error != 0) return problem_of(path, "cannot be written", error);
  return base::Done{};
}

}  // namespace

base::Result<std::string> read_text(const std::string& path, std::size_t limit) {
  const bool is_stdin = path == "-";
  std::FILE* file = is_stdin ? stdin : std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return problem_of(path, "cannot be read", errno);
  std::string text;
  char buffer[65536];
  std::size_t count = 0;
  errno = 0;
  while (text.size() <= limit && (count = std::fread(buffer, 1, sizeof buffer, file)) > 0)
    text.append(buffer, count);
  const int error = std::ferror(file) != 0 ? errno : 0;
  if (!is_stdin) std::fclose(file);
  if (error != 0) return problem_of(path, "cannot be read", error);
  if (text.size() > limit)
    return base::Problem{"larger than " + base::format_bytes(static_cast<std::int64_t>(limit)),
                         path, ""};
  return text;
}

base::Status write_text(const std::string& path, const std::string& text) {
  if (path.empty() || path == "-") {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
      return problem_of("standard output", "cannot be written", errno);
    return base::Done{};
  }
  if (is_special(path)) return write_in_place(path, text);
  std::string temporary = path + ".XXXXXX";
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) return problem_of(path, "cannot be written", errno);
  int error = write_all(descriptor, text);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (error == 0 && ::fchmod(descriptor, 0666 & ~mask) != 0) error = errno;
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return base::Done{};
  ::unlink(temporary.c_str());
  return problem_of(path, "cannot be written", error);
}

}  // namespace triage::cli
