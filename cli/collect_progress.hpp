#pragma once

#include <string>

#include "cli/command.hpp"
#include "collectors/collect.hpp"

namespace triage::cli {

/// Shows the steps of a collection on standard error: one live line on a terminal, one line a step
/// elsewhere.
class CollectProgress {
 public:
  explicit CollectProgress(bool quiet);
  void show(const collectors::Step& step);
  /// Removes the live line.
  void end();

 private:
  bool quiet_;
  bool live_;
  bool drawn_ = false;
};

/// What was got, what was not and why, how large, where, and what to run next unless that was done.
void print_summary(const collectors::Outcome& outcome, bool analyzed, const Context& context);

}  // namespace triage::cli
