#include "base/result.hpp"

namespace triage::base {

std::string Problem::to_string() const {
  std::string out;
  if (!where.empty()) out += where + ": ";
  out += message;
  if (!mend.empty()) out += " (" + mend + ")";
  return out;
}

}  // namespace triage::base
