#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bundle/input.hpp"

/// What the tests of bundle/ need of the world: a directory that goes away, and archives made by
/// libarchive's writers.
namespace scratch {

class Directory {
 public:
  Directory() {
    std::string name = (std::filesystem::temp_directory_path() / "triage-bundle-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string path(const std::string& name = "") const {
    return name.empty() ? path_ : path_ + "/" + name;
  }
  std::string write(const std::string& name, const std::string& bytes) const {
    const std::filesystem::path file = path(name);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file.string();
  }

 private:
  std::string path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

using Members = std::vector<std::pair<std::string, std::string>>;

/// An archive in memory. `filter` and `format` are libarchive's names (`gzip`, `none`; `pax`,
/// `zip`, `raw`).
inline std::string pack(const std::string& filter, const std::string& format,
                        const Members& members) {
  std::string bytes;
  archive* writer = archive_write_new();
  if (filter != "none") archive_write_add_filter_by_name(writer, filter.c_str());
  archive_write_set_format_by_name(writer, format.c_str());
  archive_write_set_bytes_in_last_block(writer, 1);
  archive_write_open(
      writer, &bytes, nullptr,
      [](archive*, void* out, const void* data, std::size_t size) -> la_ssize_t {
        static_cast<std::string*>(out)->append(static_cast<const char*>(data), size);
        return static_cast<la_ssize_t>(size);
      },
      nullptr);
  for (const auto& [name, content] : members) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0600);
    archive_write_header(writer, entry);
    archive_write_data(writer, content.data(), content.size());
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
  return bytes;
}

inline std::string compress(const std::string& filter, const std::string& text) {
  return pack(filter, "raw", {{"data", text}});
}

struct Seen {
  triage::bundle::EvidenceFile file;
  std::string head;
  std::string text;
};

struct Reading {
  std::vector<Seen> files;
  triage::bundle::ReadSummary summary;
  std::string problem;

  [[nodiscard]] const Seen* find(const std::string& path) const {
    for (const auto& seen : files)
      if (seen.file.path == path) return &seen;
    return nullptr;
  }
  /// The paths in the order of the visits, one blank between them.
  [[nodiscard]] std::string paths() const {
    std::string all;
    for (const auto& seen : files) all += (all.empty() ? "" : " ") + seen.file.path;
    return all;
  }
  [[nodiscard]] bool says(const std::string& path, const std::string& words) const {
    for (const auto& omission : summary.omissions)
      if (omission.path.find(path) != std::string::npos &&
          omission.reason.find(words) != std::string::npos)
        return true;
    for (const auto& warning : summary.warnings)
      if (warning.find(path) != std::string::npos && warning.find(words) != std::string::npos)
        return true;
    return false;
  }
};

inline Reading read(const std::vector<std::string>& inputs,
                    const triage::bundle::InputOptions& options = {}) {
  Reading reading;
  auto result =
      triage::bundle::read_inputs(inputs, options,
                                  [&](const triage::bundle::EvidenceFile& file,
                                      std::string_view head, triage::bundle::ByteStream& stream) {
                                    Seen seen{file, std::string(head), {}};
                                    // An odd size, so that pieces never fall together with
                                    // anybody's blocks.
                                    std::vector<char> buffer(4099);
                                    while (const std::size_t got = stream.read(buffer))
                                      seen.text.append(buffer.data(), got);
                                    reading.files.push_back(std::move(seen));
                                    return true;
                                  });
  if (result) {
    reading.summary = std::move(result.value());
  } else {
    reading.problem = result.problem().to_string();
  }
  return reading;
}

/// Text of many lines that does not compress to nothing.
inline std::string lines_of_log(int count) {
  std::string text;
  unsigned state = 7;
  for (int i = 0; i < count; ++i) {
    state = state * 1103515245U + 12345U;
    text += "INFO 03-04 10:00:00 [loggers.py:1] request " + std::to_string(state) + " took " +
            std::to_string(i) + " ms\n";
  }
  return text;
}

}  // namespace scratch
