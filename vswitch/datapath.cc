#include "vswitch/datapath.h"

namespace kasane {

std::string_view Label(OwnerKind kind) {
  switch (kind) {
    case OwnerKind::kPipeline:
      return "pipeline";
    case OwnerKind::kPort:
      return "port";
    case OwnerKind::kNetwork:
      return "network";
    case OwnerKind::kRouter:
      return "router";
    case OwnerKind::kHost:
      return "host";
  }
  return "unknown";
}

}  // namespace kasane
