#include "cli/redact_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "bundle/input.hpp"

namespace triage::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_buffer = 256U << 10U;
constexpr std::size_t k_lines_of_a_file = 20;

bundle::InputOptions whole_files() {
  bundle::InputOptions options;
  options.split_sections = false;
  options.every_member = true;
  return options;
}

/// A file that appears under its name only when it is complete.
class WholeFile {
 public:
  explicit WholeFile(std::string path) : path_(std::move(path)), part_(path_ + ".triage-part") {
    descriptor_ =
        ::open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor_ < 0) error_ = errno;
  }
  ~WholeFile() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
      ::unlink(part_.c_str());
    }
  }
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void write(std::string_view text) {
    while (!text.empty() && error_ == 0) {
      const ssize_t count = ::write(descriptor_, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        error_ = errno;
      } else {
        text.remove_prefix(static_cast<std::size_t>(count));
      }
    }
  }
  /// 0, or the error that kept the file from appearing.
  [[nodiscard]] int finish() {
    if (error_ == 0 && ::close(descriptor_) != 0) error_ = errno;
    if (error_ == 0) descriptor_ = -1;
    if (error_ == 0 && ::rename(part_.c_str(), path_.c_str()) != 0) {
      error_ = errno;
      ::unlink(part_.c_str());
    }
    return error_;
  }
  [[nodiscard]] int error() const { return error_; }

 private:
  std::string path_;
  std::string part_;
  int descriptor_ = -1;
  int error_ = 0;
};

/// `outer.tar!inner/x.log.gz` becomes `outer.tar/inner/x.log`: a nested archive is a directory, and
/// what was compressed is not any more.
std::string output_name(std::string path, const std::string& local_path) {
  std::replace(path.begin(), path.end(), '!', '/');
  if (!local_path.empty()) return path;  // plain on disk: its name is its own
  for (const std::string_view end : {".gz", ".zst", ".xz", ".bz2", ".lz4"})
    if (path.size() > end.size() + 1 && path.ends_with(end))
      return path.substr(0, path.size() - end.size());
  return path;
}

std::string reason_of(int error) {
  return std::strerror(error);
}

/// One file that was written, to be looked at again.
struct Written {
  std::string name;
  redact::Source source;
};

class Job {
 public:
  Job(redact::Redactor& redactor, std::string directory)
      : redactor_(redactor), directory_(std::move(directory)), buffer_(k_buffer) {}

  base::Status read(const std::string& input);
  void look_again();
  RedactedFiles take() { return std::move(result_); }

 private:
  void file(const bundle::EvidenceFile& file, std::string_view head, bundle::ByteStream& stream);
  /// The first reason is the one: a binary file is shown and named as an omission too.
  void leave_out(const std::string& path, std::string reason) {
    if (left_out_.insert(path).second) result_.left_out.push_back({path, std::move(reason)});
  }
  /// What a second look at a written file still finds; with `rewrite`, the file is replaced by it.
  base::Result<redact::Counts> check(const Written& written, bool rewrite);

  redact::Redactor& redactor_;
  std::string directory_;
  std::vector<char> buffer_;
  std::set<std::string> names_;
  std::set<std::string> left_out_;
  std::vector<Written> written_;
  RedactedFiles result_;
};

void Job::file(const bundle::EvidenceFile& file, std::string_view /*head*/,
               bundle::ByteStream& stream) {
  const std::string name = output_name(file.path == "-" ? "stdin.txt" : file.path, file.local_path);
  // Inputs may lie beside the output of an earlier run; that one is no evidence.
  if (!file.local_path.empty()) {
    std::error_code ignored;
    const fs::path inside = fs::relative(file.local_path, directory_, ignored);
    if (!inside.empty() && *inside.begin() != "..") return;
  }
  if (file.format == evidence::Format::binary)
    return leave_out(file.path, "is binary: cannot be redacted");
  if (!names_.insert(name).second)
    return leave_out(file.path,
                     "another input has the same name; redact it into a directory of its own");
  const std::string path = directory_ + "/" + name;
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (error) return leave_out(file.path, "its directory cannot be made: " + error.message());
  WholeFile out(path);
  const redact::Source source{name, file.kind, file.format};
  redact::Stream redacting = redactor_.open(source);
  const redact::Sink sink = [&out](std::string_view text) { out.write(text); };
  std::size_t count = 0;
  while (out.error() == 0 && (count = stream.read(buffer_)) > 0) {
    result_.bytes += count;
    redacting.feed(std::string_view(buffer_.data(), count), sink);
  }
  redacting.finish(sink);
  if (const int failed = out.finish(); failed != 0)
    return leave_out(file.path, "cannot be written: " + reason_of(failed));
  ++result_.files;
  if (name == "redaction.json") result_.holds_report = true;
  written_.push_back({name, source});
}

base::Status Job::read(const std::string& input) {
  const std::size_t before = result_.files + result_.left_out.size();
  auto summary = bundle::read_inputs({input}, whole_files(),
                                     [this](const auto& file, std::string_view head, auto& stream) {
                                       this->file(file, head, stream);
                                       return true;
                                     });
  if (!summary) {
    // Empty and binary inputs were shown all the same.
    if (result_.files + result_.left_out.size() == before) return summary.problem();
    return base::Done{};
  }
  for (const bundle::Omission& omission : summary->omissions) {
    if (omission.reason.starts_with("is a symbolic link")) {
      result_.notes.push_back(omission.path + " is a symbolic link: not followed");
    } else {
      leave_out(omission.path, omission.reason);
    }
  }
  for (const std::string& warning : summary->warnings) leave_out(input, warning);
  return base::Done{};
}

base::Result<redact::Counts> Job::check(const Written& written, bool rewrite) {
  const std::string path = directory_ + "/" + written.name;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return base::Problem{reason_of(errno), path, {}};
  std::unique_ptr<WholeFile> out;
  if (rewrite) out = std::make_unique<WholeFile>(path);
  redact::Stream stream = redactor_.check(written.source);
  const redact::Sink sink = [&out](std::string_view text) {
    if (out) out->write(text);
  };
  ssize_t count = 0;
  while ((count = ::read(descriptor, buffer_.data(), buffer_.size())) > 0)
    stream.feed(std::string_view(buffer_.data(), static_cast<std::size_t>(count)), sink);
  const int read_error = count < 0 ? errno : 0;
  ::close(descriptor);
  stream.finish(sink);
  if (read_error != 0) return base::Problem{reason_of(read_error), path, {}};
  if (out)
    if (const int failed = out->finish(); failed != 0)
      return base::Problem{reason_of(failed), path, {}};
  return stream.counts();
}

void Job::look_again() {
  for (const Written& written : written_) {
    auto counts = check(written, false);
    // A value that a later file gave away: mask it here too, and look once more.
    const auto hosts = [&] {
      return counts->by_what[static_cast<std::size_t>(redact::What::host)];
    };
    if (counts && counts->tier1() + hosts() > 0) {
      counts = check(written, true);
      if (counts) counts = check(written, false);
    }
    if (counts && counts->tier1() == 0) continue;
    ::unlink((directory_ + "/" + written.name).c_str());
    --result_.files;
    leave_out(written.name, counts ? "still shows secrets after redaction: removed"
                                   : "cannot be checked: " + counts.problem().message);
  }
}

}  // namespace

base::Status make_directory(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error)
    return base::Problem{"the directory cannot be made: " + error.message(), directory, {}};
  if (::access(directory.c_str(), W_OK | X_OK) != 0)
    return base::Problem{"cannot be written to: " + reason_of(errno), directory, {}};
  return base::Done{};
}

base::Result<RedactedFiles> redact_into(redact::Redactor& redactor,
                                        const std::vector<std::string>& inputs,
                                        const std::string& directory) {
  Job job(redactor, directory);
  std::vector<base::Problem> problems;
  for (const std::string& input : inputs)
    if (auto status = job.read(input); !status) problems.push_back(status.problem());
  job.look_again();
  RedactedFiles result = job.take();
  if (result.files == 0 && result.left_out.empty()) {
    if (problems.empty()) return base::Problem{"nothing to redact", base::join(inputs, ", "), {}};
    return problems.front();
  }
  for (const base::Problem& problem : problems)
    result.left_out.push_back({problem.where, problem.message});
  return result;
}

base::Result<Checked> check_files(redact::Redactor& redactor,
                                  const std::vector<std::string>& inputs) {
  Checked checked;
  std::vector<char> buffer(k_buffer);
  const bool twice = std::find(inputs.begin(), inputs.end(), "-") == inputs.end();
  const redact::Sink nowhere = [](std::string_view) {};
  const auto each = [&](const auto& look) -> base::Status {
    std::optional<base::Problem> problem;
    for (const std::string& input : inputs) {
      const std::size_t before = checked.files + checked.unread.size();
      auto summary = bundle::read_inputs(
          {input}, whole_files(),
          [&](const bundle::EvidenceFile& file, std::string_view, bundle::ByteStream& stream) {
            look(file, stream);
            return true;
          });
      if (!summary) {
        if (checked.files + checked.unread.size() > before) continue;
        if (!problem) problem = summary.problem();
        checked.unread.push_back({summary.problem().where, summary.problem().message});
        continue;
      }
      for (const auto& omission : summary->omissions)
        if (!omission.reason.starts_with("is a symbolic link"))
          checked.unread.push_back({omission.path, omission.reason});
    }
    if (checked.files == 0 && problem) return *problem;
    return base::Done{};
  };
  if (twice) {
    const auto learn = [&](const bundle::EvidenceFile& file, bundle::ByteStream& stream) {
      if (file.format == evidence::Format::binary) return;
      redact::Stream learning = redactor.open({file.path, file.kind, file.format});
      std::size_t count = 0;
      while ((count = stream.read(buffer)) > 0)
        learning.feed(std::string_view(buffer.data(), count), nowhere);
      learning.finish(nowhere);
      ++checked.files;
    };
    if (auto status = each(learn); !status) return status.problem();
    checked.files = 0;
    checked.unread.clear();
  }
  const auto count_lines = [&](const bundle::EvidenceFile& file, bundle::ByteStream& stream) {
    if (file.format == evidence::Format::binary) {
      checked.unread.push_back({file.path, "is binary"});
      return;
    }
    ++checked.files;
    const redact::Source source{file.path, file.kind, file.format};
    redact::Stream checking = twice ? redactor.check(source) : redactor.open(source);
    redact::Counts before;
    std::uint64_t line = 1;
    std::size_t listed = 0;
    const auto note = [&] {
      const redact::Counts& now = checking.counts();
      Exposed exposed{file.path, line, {}};
      for (std::size_t i = 0; i < now.by_what.size(); ++i) {
        const auto what = static_cast<redact::What>(i);
        if (now.by_what[i] > before.by_what[i] && !redact::is_address(what))
          exposed.kinds[what] = now.by_what[i] - before.by_what[i];
      }
      before.by_what = now.by_what;
      if (exposed.kinds.empty()) return;
      ++checked.lines_total;
      if (listed++ < k_lines_of_a_file) checked.lines.push_back(std::move(exposed));
    };
    std::size_t count = 0;
    while ((count = stream.read(buffer)) > 0) {
      std::string_view rest(buffer.data(), count);
      while (!rest.empty()) {
        const auto newline = rest.find('\n');
        const std::string_view piece =
            rest.substr(0, newline == std::string_view::npos ? newline : newline + 1);
        checking.feed(piece, nowhere);
        rest.remove_prefix(piece.size());
        if (newline == std::string_view::npos) continue;
        note();
        ++line;
      }
    }
    checking.finish(nowhere);
    note();
    checked.counts.add(checking.counts());
  };
  if (auto status = each(count_lines); !status) return status.problem();
  return checked;
}

Filtered redact_stream(redact::Redactor& redactor, const std::string& input) {
  Filtered result;
  const std::string shown = input == "-" ? "standard input" : input;
  bool failed = false;
  bool binary = false;
  int error = 0;
  const redact::Sink sink = [&](std::string_view text) {
    if (failed || std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return;
    failed = true;
    error = errno;
  };
  std::vector<char> buffer(k_buffer);
  int files = 0;
  std::error_code ignored;
  result.several = input != "-" && fs::is_directory(input, ignored);
  if (result.several) return result;
  const std::string name = fs::path(input).filename().string();
  bundle::InputOptions as_it_comes = whole_files();
  as_it_comes.live = true;
  const auto summary = bundle::read_inputs(
      {input}, as_it_comes,
      [&](const bundle::EvidenceFile& file, std::string_view, bundle::ByteStream& stream) {
        // A member of an archive goes by its name there.
        const std::string own = fs::path(file.path).filename().string();
        if (++files > 1 || file.path.find('!') != std::string::npos ||
            (file.local_path.empty() && !name.starts_with(own))) {
          result.several = true;
          return false;
        }
        if (file.format == evidence::Format::binary) {
          binary = true;
          return false;
        }
        redact::Stream stream_out = redactor.open({file.path, file.kind, file.format});
        std::size_t count = 0;
        while (!failed && (count = stream.read(buffer)) > 0) {
          stream_out.feed(std::string_view(buffer.data(), count), sink);
          if (!failed && std::fflush(stdout) != 0) {  // a log may be followed
            failed = true;
            error = errno;
          }
        }
        stream_out.finish(sink);
        return true;
      });
  if (result.several) return result;
  if (binary) {
    result.status = base::Problem{"is binary: cannot be redacted", shown, {}};
    return result;
  }
  if (!failed && std::fflush(stdout) != 0) {
    failed = true;
    error = errno;
  }
  if (failed) {
    result.unwritable = true;
    result.status = base::Problem{"cannot be written: " + reason_of(error), "standard output", {}};
  } else if (!summary && files == 0) {  // an empty input gives an empty output
    result.status = summary.problem();
  }
  return result;
}

}  // namespace triage::cli
