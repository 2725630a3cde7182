#include "analysis/formats/kubernetes_objects.hpp"

namespace triage::analysis::formats {

void parse_kubernetes_yaml(std::string_view text, const ParseContext& context,
                           const evidence::FactSink& sink) {
  read_located_yaml(text, [&](const LocatedNode& document) {
    facts_of_object(document, context, sink);
    return true;
  });
}

}  // namespace triage::analysis::formats
