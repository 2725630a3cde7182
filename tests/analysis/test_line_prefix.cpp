#include <algorithm>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "analysis/line_prefix.hpp"
#include "analysis/stamp_forms.hpp"

using namespace triage;
using analysis::LinePrefix;
using evidence::Stamp;

namespace {

std::string show(const std::optional<Stamp>& stamp) {
  if (!stamp) return "";
  const std::string date = evidence::to_rfc3339({stamp->ns, stamp->resolution_ns});
  const double fraction = static_cast<double>(stamp->ns) / 1e9;
  switch (stamp->base) {
    case Stamp::Base::utc:
      return "utc " + date;
    case Stamp::Base::no_zone:
      return "no_zone " + date;
    case Stamp::Base::no_year:
      return "no_year " + date;
    case Stamp::Base::monotonic:
      return fmt::format("monotonic {:.6f}", fraction);
    case Stamp::Base::no_date:
      return stamp->resolution_ns < 1'000'000'000 ? fmt::format("no_date {:.3f}", fraction)
                                                  : fmt::format("no_date {:.0f}", fraction);
  }
  return "?";
}

std::string show(const evidence::Place& place) {
  std::string out;
  const auto add = [&out](std::string_view name, const std::string& value) {
    if (!value.empty()) out += (out.empty() ? "" : " ") + std::string(name) + "=" + value;
  };
  add("node", place.node);
  add("pid", place.pid);
  add("rank", place.rank);
  add("pod", place.pod);
  add("container", place.container);
  return out;
}

std::string message_of(std::string_view line, const LinePrefix& prefix) {
  return std::string(line.substr(std::min(prefix.message, line.size())));
}

}  // namespace

TEST_CASE("line prefix: every sample of every form is read as its table says") {
  for (const auto& form : analysis::stamp_forms()) {
    CHECK_MESSAGE(!form.samples.empty(), form.name);
    bool used = false;
    for (const auto& sample : form.samples) {
      CAPTURE(sample.line);
      const LinePrefix prefix = analysis::read_prefix(sample.line, sample.kind);
      CHECK(show(prefix.stamp) == sample.stamp);
      CHECK(message_of(sample.line, prefix) == sample.message);
      CHECK(show(prefix.place) == sample.place);
      CHECK(prefix.level == sample.level);
      const auto names = analysis::forms_of(sample.line, sample.kind);
      used = used || std::find(names.begin(), names.end(), form.name) != names.end();
    }
    CHECK_MESSAGE(used, "no sample of this form uses it: ", form.name);
  }
}

TEST_CASE("line prefix: what collectors put before a line does not change its message") {
  for (const auto& form : analysis::stamp_forms())
    for (const auto& sample : form.samples) {
      // A JSON or access log line is itself the message; the others are read through.
      const std::string plain(sample.line);
      if (sample.kind != evidence::Kind::container_log || plain.front() == ' ' ||
          form.name == "docker compose name" || plain.find("\x1b") != std::string::npos)
        continue;
      CAPTURE(plain);
      const std::string message =
          message_of(plain, analysis::read_prefix(plain, evidence::Kind::container_log));
      for (const std::string before :
           {"2026-01-12T08:41:07.123456789Z ", "[pod/vllm-0/vllm] 2026-01-12T08:41:07.1Z ",
            "2026-01-12T08:41:07.123456789Z stderr F "}) {
        const std::string line = before + plain;
        const LinePrefix prefix = analysis::read_prefix(line, evidence::Kind::container_log);
        CHECK(message_of(line, prefix) == message);
        REQUIRE(prefix.stamp);
        CHECK(prefix.stamp->base == Stamp::Base::utc);
      }
    }
}

TEST_CASE("line prefix: of several stamps the one with date and zone wins, wherever it stands") {
  const auto kind = evidence::Kind::container_log;
  const auto base = [kind](std::string_view line) {
    return analysis::read_prefix(line, kind).stamp->base;
  };
  CHECK(base("Feb  9 12:00:01 n1 x[1]: 2025-02-09T12:00:01Z y") == Stamp::Base::utc);
  CHECK(base("2025-02-09T12:00:01Z INFO 02-09 12:00:01 [x.py:1] y") == Stamp::Base::utc);
  CHECK(base("[2025-02-09 12:00:01] [rank1]:[E209 12:00:01.1 P.cpp:1] y") == Stamp::Base::no_zone);
}

TEST_CASE("line prefix: nothing behind 512 bytes is read and no line breaks it") {
  const std::string far = std::string(600, ' ') + "[2025-09-18 05:41:10 TP1] x";
  CHECK_FALSE(analysis::read_prefix(far, evidence::Kind::container_log).stamp);
  std::string all;
  for (int c = 0; c < 256; ++c) all.push_back(static_cast<char>(c));
  for (const auto& form : analysis::stamp_forms())
    for (const auto& sample : form.samples)
      for (std::size_t cut = 0; cut <= sample.line.size(); ++cut) {
        const std::string line = std::string(sample.line.substr(0, cut));
        const LinePrefix shorter = analysis::read_prefix(line, sample.kind);
        CHECK(shorter.message <= line.size());
        const std::string odd = line + all;
        CHECK(analysis::read_prefix(odd, sample.kind).message <= odd.size());
      }
  CHECK(analysis::read_prefix("", evidence::Kind::unknown_text).message == 0);
}
