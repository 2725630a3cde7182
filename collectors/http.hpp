#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>

#include "base/process.hpp"

namespace triage::collectors {

/// What stands before the body of an answer.
struct HttpHead {
  std::string status;  ///< `HTTP/1.1 503 Service Unavailable`; empty: no answer came
  std::string fields;  ///< a header a line
};

/// Reads what `kubectl get --raw -v=8` logs of the answer. It prints no body of an error: that is
/// then put into `body`.
[[nodiscard]] HttpHead read_http_head(std::string_view log, std::string& body);

/// `GET http://HOST:PORT/PATH` of an engine on this host: no TLS, no redirects, no proxy. Answers
/// in the terms of a program, so that a row of the manifest reads the same: exit code 0 for 2xx,
/// the status otherwise, with the status line in `error_text`. Bodies of errors are delivered too:
/// what a dead engine answers is evidence.
[[nodiscard]] base::Ended http_get(const std::string& url, std::chrono::milliseconds deadline,
                                   const base::TakeOutput& take, const std::atomic<bool>* cancel,
                                   HttpHead* head = nullptr);

}  // namespace triage::collectors
