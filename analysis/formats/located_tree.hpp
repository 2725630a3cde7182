#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace triage::analysis::formats {

struct LocatedMember;

/// A JSON or YAML value that knows the line it begins on. nlohmann's and yaml-cpp's own trees lose
/// the place (nlohmann) or throw on damaged input (both); evidence is often cut short and every
/// cited value needs its line, so both formats are read into this.
struct LocatedNode {
  enum class Type : std::uint8_t { null, scalar, object, array };
  Type type = Type::null;
  bool quoted = false;                 ///< a string, not a number or `true`
  std::uint32_t line = 0;              ///< 1-based in the original file
  std::string text;                    ///< of a scalar, decoded
  std::vector<LocatedMember> members;  ///< of an object, in file order
  std::vector<LocatedNode> items;      ///< of an array

  /// The member of that name, or a shared null node. `a.b.c` is not split.
  [[nodiscard]] const LocatedNode& at(std::string_view name) const;
  /// `at` along a path: `at("status", "conditions")`.
  template <class... Names>
  [[nodiscard]] const LocatedNode& at(std::string_view first, Names... rest) const {
    return at(first).at(rest...);
  }
  [[nodiscard]] bool is_null() const { return type == Type::null; }
  [[nodiscard]] bool is_scalar() const { return type == Type::scalar; }
  [[nodiscard]] bool is_object() const { return type == Type::object; }
  [[nodiscard]] bool is_array() const { return type == Type::array; }
  explicit operator bool() const { return type != Type::null; }
};

struct LocatedMember {
  std::string name;
  LocatedNode node;
};

/// Receives one object of a document. Return false to stop.
using DocumentVisitor = std::function<bool(const LocatedNode& document)>;

struct JsonLimits {
  int max_depth = 96;
  std::size_t max_nodes = 2'000'000;  ///< of one document; what is beyond is left out
};

/// Reads concatenated JSON documents (also one a line), skipping text between them. The elements of
/// a top-level `items` array (a Kubernetes List) and of a top-level array are delivered one by one,
/// so that a long list is never held whole. Damaged or truncated input delivers what was read
/// before the damage. Never throws.
void read_located_json(std::string_view text, const DocumentVisitor& visit,
                       const JsonLimits& limits = {});

/// The same of YAML: documents between `---` lines and the elements of a top-level `items`. Aliases
/// are left out (no alias bombs).
void read_located_yaml(std::string_view text, const DocumentVisitor& visit);

}  // namespace triage::analysis::formats
