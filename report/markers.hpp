#pragma once

#include <string>
#include <string_view>
#include <vector>

/// A document that a program writes and a person edits. What the program wrote stands between two
/// comment lines with the section's name and a digest of what it wrote; all the rest is the
/// person's. Writing it anew replaces only blocks that nobody touched.
namespace triage::report {

/// A block: `<!-- triage:begin ID DIGEST -->`, the body, `<!-- triage:end ID -->`.
[[nodiscard]] std::string marked_block(std::string_view id, std::string body);
/// The line at the head that lists the blocks the document was written with: one that is listed and
/// missing was taken out by a person and does not come back.
[[nodiscard]] std::string marker_list(const std::vector<std::string>& ids);

struct Merged {
  std::string text;
  std::vector<std::string> edited;   ///< blocks that a person changed: left as they are
  std::vector<std::string> removed;  ///< blocks that a person took out: left out
  std::vector<std::string> added;    ///< blocks that the old document did not know: at its end
};

/// `old_text` with its untouched blocks as in `fresh_text`. When the old text has no marker at all,
/// nothing can be kept apart: `text` is empty.
[[nodiscard]] Merged merge_documents(const std::string& old_text, const std::string& fresh_text);

}  // namespace triage::report
