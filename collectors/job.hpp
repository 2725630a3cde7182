#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "bundle/manifest.hpp"
#include "collectors/plan.hpp"

namespace triage::collectors {

struct Result;

/// One piece of evidence to be had.
struct Job {
  std::string id;  ///< of the plan's item
  evidence::Kind role = evidence::Kind::unknown_text;
  std::string path;
  evidence::Place place;  ///< names as the cluster has them; they are written as redaction has them
  int order = 50;
  std::vector<std::string> argv;
  std::string url;  ///< instead of a command: an HTTP address on this host
  std::chrono::milliseconds deadline{30'000};
  std::uint64_t cap = 1024 * 1024;
  Keep keep = Keep::head;
  bool optional = false;
  std::vector<std::string> absent;
  /// What a failing program printed is evidence (nvidia-smi's error); of kubectl it is not: it can
  /// fail and still print an empty List.
  bool keep_failed_output = false;
  /// When there is no output, what it said on standard error is the evidence.
  bool keep_error_text = false;
  /// Of an engine that is down: what does not answer is `missing`, which is no failure to collect.
  bool error_is_answer = false;
  /// What an engine answers is kept with its status line and headers, an error too: then the row
  /// says `ok`, and the status.
  bool whole_answer = false;
  /// Asked when its turn comes: a reason not to run it, or nothing.
  std::function<std::string()> skip;
  std::string note;         ///< reason to write beside `ok`, where there is something to say
  std::size_t capture = 0;  ///< bytes of raw output to hand to `then`
  std::function<void(const Result&)> then;
};

struct Result {
  bundle::ManifestItem row;
  base::Ended ended;
  std::string raw;       ///< first `capture` bytes as the program wrote them: for discovery only
  std::string redacted;  ///< first `capture` bytes as they went into the bundle
};

}  // namespace triage::collectors
