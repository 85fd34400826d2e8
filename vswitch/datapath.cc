#include "vswitch/datapath.h"

namespace kasane::vswitch {

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

std::string_view Label(Discrepancy::Kind kind) {
  switch (kind) {
    case Discrepancy::Kind::kMissing:
      return "missing";
    case Discrepancy::Kind::kExtra:
      return "extra";
    case Discrepancy::Kind::kDifferent:
      return "different";
  }
  return "unknown";
}

}  // namespace kasane::vswitch
