#include "analysis/fill.hpp"

#include <array>

#include "base/text.hpp"

namespace triage::analysis {
namespace {

constexpr std::array<std::string_view, 20> k_leading{
    "on",   "of",  "at",   "for", "in",        "by",   "from", "to", "with", "GPU",
    "node", "pod", "rank", "pid", "container", "host", "link", "-n", "-i",   "(pid"};

/// Drops the words that only lead to a value that is not there.
void drop_leading_words(std::string& out) {
  while (true) {
    const std::size_t stop = out.find_last_not_of(' ');
    if (stop == std::string::npos) return;
    const std::size_t blank = out.rfind(' ', stop);
    const std::size_t begin = blank == std::string::npos ? 0 : blank + 1;
    const std::string_view word(out.data() + begin, stop + 1 - begin);
    bool leads = false;
    for (const std::string_view candidate : k_leading) leads = leads || word == candidate;
    if (!leads) return;
    out.erase(begin);
  }
}

std::string tidy(std::string text) {
  for (const auto& [from, to] : {std::pair<const char*, const char*>{"  ", " "},
                                 {" :", ":"},
                                 {" ,", ","},
                                 {" .", "."},
                                 {"()", ""},
                                 {" )", ")"},
                                 {"( ", "("}})
    while (text.find(from) != std::string::npos)
      text = base::replace_all(std::move(text), from, to);
  std::string_view view = base::trim(text);
  while (!view.empty() && (view.back() == ':' || view.back() == ','))
    view = base::trim(view.substr(0, view.size() - 1));
  return std::string(view);
}

/// Copies `text`, and for every `{name}` without a value calls `missing(out, name)`.
template <class Missing>
std::string substitute(std::string_view text, const std::map<std::string, std::string>& values,
                       Missing missing) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at);
    if (open == std::string_view::npos) {
      out += text.substr(at);
      break;
    }
    const std::size_t close = text.find('}', open);
    const std::string_view name = close == std::string_view::npos
                                      ? std::string_view()
                                      : text.substr(open + 1, close - open - 1);
    const bool is_name = !name.empty() && name[0] != '.' &&  // a jsonpath
                         name.find_first_not_of(
                             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") ==
                             std::string_view::npos;
    if (!is_name) {
      out += text.substr(at, open + 1 - at);
      at = open + 1;
      continue;
    }
    out += text.substr(at, open - at);
    const auto it = values.find(std::string(name));
    if (it != values.end() && !it->second.empty())
      out += it->second;
    else
      missing(out, name);
    at = close + 1;
  }
  return out;
}

}  // namespace

std::string fill(std::string_view text, const std::map<std::string, std::string>& values) {
  bool dropped = false;
  std::string out = substitute(text, values, [&](std::string& so_far, std::string_view) {
    drop_leading_words(so_far);
    dropped = true;
  });
  return dropped ? tidy(std::move(out)) : out;
}

std::string fill_command(std::string_view text, const std::map<std::string, std::string>& values) {
  return substitute(text, values, [](std::string& so_far, std::string_view name) {
    for (const char c : name)
      so_far += c == '.' ? '_' : (c >= 'a' && c <= 'z') ? static_cast<char>(c - 'a' + 'A') : c;
  });
}

std::map<std::string, std::string> fill_values(const Observation& o) {
  std::map<std::string, std::string> values = o.captures;
  const auto put = [&](const char* name, const std::string& value) {
    if (!value.empty()) values.insert_or_assign(name, value);
  };
  put("pci", o.place.pci);
  put("gpu_uuid", o.place.gpu_uuid);
  put("gpu_index", o.place.gpu_index);
  put("node", o.place.node);
  put("pod", o.place.pod);
  put("namespace", o.place.name_space);
  put("container", o.place.container);
  put("rank", o.place.rank);
  put("workload", o.place.workload);
  if (o.captures.count("pid") == 0) put("pid", o.place.pid);
  return values;
}

}  // namespace triage::analysis
