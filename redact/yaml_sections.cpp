// What the keys of a YAML document say of the lines below them: the kind of an object, data of
// secrets, whole files.

#include <algorithm>

#include "base/text.hpp"
#include "redact/chars.hpp"
#include "redact/line_machine.hpp"
#include "redact/word_set.hpp"

namespace triage::redact {

namespace {

constexpr std::size_t k_most_objects = 16;

/// Keys under which files stand as they are, whatever the key of their text.
constexpr auto k_of_files = words("write_files", "copy", "ansible.builtin.copy", "files",
                                  "secretGenerator", "configMapGenerator", "blockinfile");

/// `prompts.json`, `system_prompt.yaml`: a file of a ConfigMap.
bool is_prompt_file(std::string_view key) {
  return key.size() > 10 &&
         (key.ends_with(".json") || key.ends_with(".yaml") || key.ends_with(".yml")) &&
         base::icontains(key, "prompt");
}

}  // namespace

DataKey LineMachine::asks_for_kind(std::string_view line) const {
  if (!env_.profile.secret_data || line.size() < 5) return {};
  const char last = line.back();
  if (last != ':' && last != '{' && last != ' ' && last != '\r') return {};
  const DataKey data = find_data_key(line);
  const bool item = line.find('-') < data.indent;
  const bool known =
      !data.json && !item && !objects_.empty() && objects_.back().indent == data.indent;
  return known ? DataKey{} : data;
}

void LineMachine::kind_ahead(ObjectKind kind) {
  kind_ahead_ = kind;
  if (kind != ObjectKind::unknown) state_.other_object = kind == ObjectKind::other;
}

void LineMachine::note_kind(std::string_view key, std::string_view value, std::size_t indent) {
  const bool here = !objects_.empty() && objects_.back().indent == indent;
  if (key == "kind") {
    if (here)
      objects_.pop_back();
    else if (objects_.size() >= k_most_objects)
      return;
    const bool holds_objects = value.ends_with("List") || value == "Template";
    objects_.push_back(
        {indent, value == "Secret" ? ObjectKind::secret : ObjectKind::other, holds_objects});
  } else if (here && key == "apiVersion" && !objects_.back().last_key) {
    objects_.pop_back();  // the next object, without a mark between
  } else if (here) {
    objects_.back().last_key = false;
  }
}

/// Every text of the JSON on this line is one for a model, whatever its name.
void LineMachine::in_prompts() {
  if (state_.frames.empty()) state_.frames.emplace_back();
  Frame& root = state_.frames.front();
  root.every_value = root.speech = true;
  root.inherited = {KeyKind::maybe_text, What::prompt};
}

/// What the key before a colon at the end of its line opens.
LineMachine::Section LineMachine::section_of(std::string_view key, std::size_t indent) {
  if (key == "users") return Section::users;
  if (is_prompt_file(key)) return Section::prompts;
  if (key != "data") return k_of_files.has(key) ? Section::files : Section::none;
  if (!env_.profile.secret_data) return Section::data;
  const ObjectKind ahead = kind_ahead_;
  const bool known = !objects_.empty() && objects_.back().indent == indent;
  const ObjectKind kind = known ? objects_.back().kind : ahead;
  if (kind == ObjectKind::secret) return Section::secret_data;
  if (kind == ObjectKind::other) return Section::data;
  // Inside an object of another kind it is a field of that kind.
  const bool inside = !objects_.empty() && !objects_.back().holds_objects &&
                      objects_.back().kind == ObjectKind::other;
  return inside ? Section::data : Section::maybe_data;
}

}  // namespace triage::redact
