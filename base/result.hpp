#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace triage::base {

/// What a user or the world got wrong: one clear message, where it is, and how to mend it.
struct Problem {
  std::string message;  ///< what is wrong, one sentence without a final full stop
  std::string where;    ///< path, `file:line:column` or empty
  std::string mend;     ///< how to mend it, or empty

  /// `where: message (mend)`, leaving out what is empty.
  [[nodiscard]] std::string to_string() const;
};

/// A value or the problem that stood in its way (C++20 has no std::expected).
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}            // NOLINT(google-explicit-constructor)
  Result(Problem problem) : state_(std::move(problem)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & { return std::get<0>(state_); }
  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
  [[nodiscard]] T& operator*() & { return value(); }
  [[nodiscard]] const T& operator*() const& { return value(); }
  [[nodiscard]] T* operator->() { return &value(); }
  [[nodiscard]] const T* operator->() const { return &value(); }

  [[nodiscard]] const Problem& problem() const { return std::get<1>(state_); }

 private:
  std::variant<T, Problem> state_;
};

/// Success without a value.
struct Done {};
using Status = Result<Done>;

}  // namespace triage::base
