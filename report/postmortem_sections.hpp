#pragma once

#include "report/document.hpp"
#include "report/postmortem.hpp"

/// One function a section; each writes what the evidence shows, and nothing when it shows nothing.
namespace triage::report::postmortem {

struct Source {
  const analysis::Report& report;
  const PatternNotes& pattern;
};

void summary(DocumentWriter& out, const Source& source);
void impact(DocumentWriter& out, const Source& source);
void timeline(DocumentWriter& out, const Source& source);
void root_cause(DocumentWriter& out, const Source& source);
void conditions(DocumentWriter& out, const Source& source);
void was_not(DocumentWriter& out, const Source& source);
void detection(DocumentWriter& out, const Source& source);
void response(DocumentWriter& out, const Source& source);
void quarantine(DocumentWriter& out, const Source& source);
void actions(DocumentWriter& out, const Source& source);
void questions(DocumentWriter& out, const Source& source);
void evidence_index(DocumentWriter& out, const Source& source);
void open_questions(DocumentWriter& out, const Source& source);

}  // namespace triage::report::postmortem
