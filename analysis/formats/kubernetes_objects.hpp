#pragma once

#include <string>
#include <string_view>

#include "analysis/formats/located_tree.hpp"
#include "analysis/formats/parsers.hpp"
#include "evidence/fact.hpp"

/// From a Kubernetes object as a located tree to facts, the same for JSON and YAML.
///
/// An object gives one base fact with all its fields. Every message beyond the first (a waiting
/// state beside the last termination, each condition) gives a further fact that holds the text and
/// the object's names only, so that `match` sees each text with its own line and time and `where`
/// sees each object once.
namespace triage::analysis::formats {

/// Facts of one object, or of each item of a List. Objects of unknown kind are told by their shape.
void facts_of_object(const LocatedNode& object, const ParseContext& context,
                     const evidence::FactSink& sink);

// kubernetes_pod.cpp
void facts_of_pod(const LocatedNode& pod, const ParseContext& context,
                  const evidence::FactSink& sink);

// --- Helpers of the object readers ---

/// Sets `field` from a scalar, with its line; nothing from anything else.
void put(evidence::Fact& fact, std::string_view field, const LocatedNode& value);
void put_quantity(evidence::Fact& fact, const std::string& field, const LocatedNode& value);
/// Every scalar member of `map` as `stem.KEY`.
void put_map(evidence::Fact& fact, std::string_view stem, const LocatedNode& map);
void put_quantities(evidence::Fact& fact, std::string_view stem, const LocatedNode& map);
/// `gpu.resource`, `gpu.capacity`, `gpu.allocatable` from `capacity.*` and `allocatable.*`.
void put_node_gpu(evidence::Fact& fact);
/// `condition.TYPE` and its `.reason`, `.message`, `.since`.
void put_conditions(evidence::Fact& fact, const LocatedNode& conditions);
/// One text-only fact for each bad condition that has a message; `base` gives names and place.
void emit_condition_texts(const evidence::Fact& base, const LocatedNode& conditions,
                          const evidence::FactSink& sink);
/// A fact with the names and the place of `base` and one text.
[[nodiscard]] evidence::Fact text_fact(const evidence::Fact& base, const LocatedNode& text);
void set_stamp(evidence::Fact& fact, const LocatedNode& time);

}  // namespace triage::analysis::formats
