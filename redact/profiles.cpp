#include "redact/profiles.hpp"

namespace triage::redact {

using evidence::Format;
using evidence::Kind;

Profile profile_of(Kind kind, Format format) {
  Profile profile;
  profile.xml = format == Format::smi_xml;
  switch (kind) {
    case Kind::kernel_log:
    case Kind::gpu_state:
    case Kind::gateway_stats:
    case Kind::metrics:
    case Kind::dcgm_diag:
    case Kind::host_memory:
      profile.free_text = false;
      break;
    case Kind::pod:
    case Kind::event:
    case Kind::node:
    case Kind::workload:
    case Kind::model:
      profile.free_text = false;
      profile.secret_data = true;
      break;
    case Kind::environment:
      profile.free_text = false;
      break;
    case Kind::unknown_text:
      profile.secret_data = true;
      break;
    default:
      break;
  }
  if (format == Format::k8s_json || format == Format::k8s_yaml) profile.secret_data = true;
  return profile;
}

}  // namespace triage::redact
