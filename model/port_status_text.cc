#include "model/port_status_text.h"

#include "kasane/v1/controller.pb.h"

namespace kasane::model {

std::string_view Label(v1::PortStatus status) {
  switch (status) {
    case v1::PORT_STATUS_DOWN:
      return "DOWN";
    case v1::PORT_STATUS_BUILD:
      return "BUILD";
    case v1::PORT_STATUS_ACTIVE:
      return "ACTIVE";
    case v1::PORT_STATUS_NOT_APPLICABLE:
      return "N/A";
    default:
      return "";
  }
}

}  // namespace kasane::model
