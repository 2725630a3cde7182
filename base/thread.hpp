#pragma once

#include <system_error>
#include <thread>
#include <utility>

namespace triage::base {

/// A thread that runs `work`, or one that is not joinable where the machine gives none any more: a
/// node whose limit of processes is reached is one that this program is run on. The caller then
/// does the work itself.
template <class Work>
[[nodiscard]] std::thread thread_or_none(Work work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error&) {
    return {};
  }
}

}  // namespace triage::base
