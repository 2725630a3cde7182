#include <doctest/doctest.h>

#include <algorithm>

#include "rules/explain.hpp"
#include "rules/loader.hpp"

using namespace triage::rules;

namespace {

Explanation one(const std::vector<std::string>& words) {
  auto found = explain(built_in_rules(), words);
  REQUIRE(found.ok());
  REQUIRE(!found->empty());
  return found->front();
}

}  // namespace

TEST_CASE("explain: every form answers its own example") {
  const std::vector<std::vector<std::string>> examples{{"xid", "79"},
                                                       {"sxid", "20034"},
                                                       {"cuda", "700"},
                                                       {"cublas", "13"},
                                                       {"cudnn", "5000"},
                                                       {"nccl", "6"},
                                                       {"rccl", "6"},
                                                       {"hip", "719"},
                                                       {"exit", "137"},
                                                       {"signal", "9"},
                                                       {"event", "FailedScheduling"},
                                                       {"condition", "Ready"},
                                                       {"state", "CrashLoopBackOff"},
                                                       {"metric", "DCGM_FI_DEV_XID_ERRORS"},
                                                       {"smi", "GPU Recovery Action"},
                                                       {"amd", "ring-timeout"}};
  CHECK(examples.size() == explain_forms().size());
  for (const auto& words : examples) {
    CAPTURE(words[0]);
    const Explanation e = one(words);
    CHECK_FALSE(e.title.empty());
    CHECK_FALSE(e.meaning.empty());
    CHECK_FALSE(e.table.empty());
  }
}

TEST_CASE("explain: every row of every catalog answers to its own first key") {
  const RuleSet& rules = built_in_rules();
  for (const ExplainForm& form : explain_forms())
    for (std::string_view name : form.tables) {
      const auto table = rules.catalogs.find(std::string(name));
      REQUIRE(table != rules.catalogs.end());
      if (form.name == "signal" || name == "nvidia-xid-nvlink5-decode") continue;
      for (const CatalogRow& row : *table->second.rows) {
        const bool second = name == "cudnn-status" || name == "kubernetes-signal";
        if (name == "kubernetes-signal" && row.key[0] != form.name) continue;
        const std::string cell = row.key[second ? 1 : 0];
        CAPTURE(cell);
        const auto found = explain(rules, {std::string(form.name), cell.substr(0, cell.find('|'))});
        REQUIRE(found.ok());
        CHECK(std::any_of(found->begin(), found->end(), [&](const Explanation& e) {
          return e.title == row.title && e.meaning == row.meaning;
        }));
      }
    }
}

TEST_CASE("explain: CUDA codes answer to number, runtime name, driver name and text") {
  for (const char* name : {"700", "cudaErrorIllegalAddress", "CUDA_ERROR_ILLEGAL_ADDRESS",
                           "an illegal memory access was encountered"})
    CHECK(one({"cuda", name}).cause == "cuda-illegal-memory-access");
  CHECK(one({"cudaErrorIllegalAddress"}).cause == "cuda-illegal-memory-access");
}

TEST_CASE("explain: exit code 137 is two things, and the number alone is no OOM") {
  const auto found = explain(built_in_rules(), {"exit", "137"});
  REQUIRE(found.ok());
  REQUIRE(found->size() == 2);
  CHECK((*found)[0].cause == "container-oom-killed");
  CHECK((*found)[1].cause.empty());
  CHECK((*found)[1].role == "symptom");
  CHECK(one({"signal", "9"}).subject.find("137") != std::string::npos);
}

TEST_CASE("explain: NVLink words of a Xid line are decoded, in any order of the words") {
  const Explanation e = one({"xid", "149", "0x004505c6", "0x00000000"});
  CHECK(e.cause == "xid-149");
  CHECK(e.quarantine.target == "gpu");
  CHECK_FALSE(explain(built_in_rules(), {"xid", "149", "0xffffffff", "0x12345678"}).ok());
}

TEST_CASE("explain: where sources disagree it says so and how it was decided") {
  bool some = false;
  const auto& table = built_in_rules().catalogs.at("nvidia-xid");
  for (const CatalogRow& row : *table.rows)
    if (row.notes.rfind("DISAGREE", 0) == 0) {
      const Explanation e = one({"xid", row.key[0]});
      CHECK(e.sources_disagree);
      CHECK(e.notes.rfind("DISAGREE", 0) == std::string::npos);
      CHECK_FALSE(e.notes.empty());
      some = true;
    }
  CHECK(some);
}

TEST_CASE("explain: a pasted line names its rule, its captures and the catalog row") {
  const std::string line =
      "NVRM: Xid (PCI:0000:a1:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the "
      "bus.";
  const auto found = explain_line(built_in_rules(), line, line);
  REQUIRE(!found.empty());
  CHECK(found.front().captures.at("xid") == "79");
  CHECK(found.front().role == "root");
  CHECK_FALSE(found.front().steps.empty());
  CHECK(explain_line(built_in_rules(), "all is well", "all is well").empty());
}

TEST_CASE("explain: what nothing knows is a problem, with a suggestion for a slip of the fingers") {
  CHECK(explain(built_in_rules(), {"event", "FailedSchedulin"}).problem().mend ==
        "did you mean FailedScheduling?");
  CHECK_FALSE(explain(built_in_rules(), {"xid", "9999"}).ok());
  CHECK_FALSE(explain(built_in_rules(), {"cuda", ""}).ok());
  CHECK_FALSE(explain(built_in_rules(), {}).ok());
  CHECK_FALSE(explain(built_in_rules(), {"700"}).ok());
}

TEST_CASE("explain: every incident pattern has a page with all its sections") {
  const RuleSet& rules = built_in_rules();
  for (const std::string& name : all_patterns()) {
    CAPTURE(name);
    const auto page = rules.patterns.find(name);
    REQUIRE(page != rules.patterns.end());
    const PatternPage& p = page->second;
    CHECK_FALSE(p.title.empty());
    CHECK_FALSE(p.definition.empty());
    for (const auto* section : {&p.signals, &p.conditions, &p.impacts, &p.not_this, &p.questions,
                                &p.containment, &p.remediation, &p.prevention})
      CHECK_FALSE(section->empty());
    const auto found = explain(rules, {"pattern", name});
    REQUIRE(found.ok());
    CHECK(found->front().meaning == p.definition);
  }
}
