#include "analysis/line_prefix.hpp"

#include "analysis/stamp_form_readers.hpp"
#include "analysis/stamp_forms.hpp"

namespace triage::analysis {
namespace {

// Prefixes are short: the longest chain seen (CRI, syslog, Ray, engine) takes some 250 bytes.
constexpr std::size_t k_read_at_most = 512;
constexpr int k_forms_at_most = 12;

std::uint8_t start_of(char c) {
  if (is_digit(c)) return k_digit;
  if (is_upper(c)) return k_upper;
  if (is_lower(c)) return k_lower;
  if (c == '[') return k_bracket;
  return c == '(' ? k_paren : k_other;
}

template <class Visit>
LinePrefix read(std::string_view line, evidence::Kind kind, Visit visit) {
  LinePrefix out;
  PrefixState state{Scanner{line.substr(0, k_read_at_most)}, kind, out};
  for (int count = 0; count < k_forms_at_most && !state.ended; ++count) {
    // A form may stand behind blanks and colours; when none does, they belong to the message.
    const Scanner before = state.in;
    forms::skip_colours(state.in);
    state.stamp_read = false;
    const std::uint8_t start = start_of(state.in.peek());
    const StampForm* found = nullptr;
    for (const StampForm& form : stamp_forms())
      if ((form.starts & start) != 0 && form.read(state)) {
        found = &form;
        break;
      }
    if (found == nullptr) {
      // Colours alone before the message are dropped, its indentation is kept.
      const std::string_view skipped = before.text.substr(before.at, state.in.at - before.at);
      if (skipped.find('\x1b') == std::string_view::npos) state.in = before;
      break;
    }
    visit(*found);
    state.after_stamp = state.stamp_read;
  }
  out.message = state.in.at;
  return out;
}

}  // namespace

int trust_of(const evidence::Stamp& stamp) {
  switch (stamp.base) {
    case evidence::Stamp::Base::utc:
      return 5;
    case evidence::Stamp::Base::no_zone:
      return 4;
    case evidence::Stamp::Base::no_year:
      return 3;
    case evidence::Stamp::Base::monotonic:
      return 2;
    case evidence::Stamp::Base::no_date:
      return 1;
  }
  return 0;
}

void PrefixState::take(const evidence::Stamp& stamp) {
  const int trusted = trust_of(stamp);
  if (trusted <= stamp_trust) return;
  stamp_trust = trusted;
  out.stamp = stamp;
}

LinePrefix read_prefix(std::string_view line, evidence::Kind kind) {
  return read(line, kind, [](const StampForm&) {});
}

std::vector<std::string_view> forms_of(std::string_view line, evidence::Kind kind) {
  std::vector<std::string_view> names;
  (void)read(line, kind, [&names](const StampForm& form) { names.push_back(form.name); });
  return names;
}

}  // namespace triage::analysis
