#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// Which Kubernetes object a `data` key belongs to. kubectl prints the keys of an object in the
/// order of the alphabet: `data` stands before the `kind` that says whether it holds secrets.
namespace triage::redact {

enum class ObjectKind : std::uint8_t { unknown, secret, other };

/// `data:` or `"data": {` and nothing else on a line.
struct DataKey {
  bool found = false;
  bool json = false;
  std::size_t indent = 0;  ///< of the key
};
[[nodiscard]] DataKey find_data_key(std::string_view line);

/// Reads the lines behind a `data` key up to the `kind` beside it, or to the object's end.
class KindAhead {
 public:
  explicit KindAhead(const DataKey& data) : data_(data) {}

  /// Whether `line` decided. An object that ends without a kind stays unknown.
  [[nodiscard]] bool line(std::string_view line);
  [[nodiscard]] ObjectKind kind() const { return kind_; }

 private:
  DataKey data_;
  ObjectKind kind_ = ObjectKind::unknown;
};

/// The same in a text that is whole; looks at no more than `most` bytes of it.
[[nodiscard]] ObjectKind kind_behind(const DataKey& data, std::string_view text, std::size_t most);

}  // namespace triage::redact
