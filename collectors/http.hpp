#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "base/process.hpp"

namespace triage::collectors {

/// `GET http://HOST:PORT/PATH` of an engine on this host: no TLS, no redirects, no proxy. Answers
/// in the terms of a program, so that a row of the manifest reads the same: exit code 0 for 2xx,
/// the status otherwise, with the status line in `error_text`. Bodies of errors are delivered too:
/// what a dead engine answers is evidence.
[[nodiscard]] base::Ended http_get(const std::string& url, std::chrono::milliseconds deadline,
                                   const base::TakeOutput& take, const std::atomic<bool>* cancel);

}  // namespace triage::collectors
