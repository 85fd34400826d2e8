#include "ctl/commands/controller_records.h"

#include "base/status.h"
#include "ctl/clients.h"
#include "kasane/v1/agent.pb.h"
#include "kasane/v1/controller.pb.h"

namespace kasane::ctl {

absl::StatusOr<CloudRecords*> ControllerRecords::Get() {
  if (!records_) records_ = Load();
  if (!records_->ok()) return records_->status();
  return &**records_;
}

absl::StatusOr<CloudRecords> ControllerRecords::Load() const {
  ASSIGN_OR_RETURN(ControllerClient client, ControllerClient::Dial(WithAgentsController()));
  ASSIGN_OR_RETURN(const v1::ListResponse resources, client.List(v1::ListRequest()));
  return CloudRecords(resources);
}

Globals ControllerRecords::WithAgentsController() const {
  Globals globals = globals_;
  if (globals.controller != Globals().controller) return globals;
  const auto status = AgentClient(globals).Status();
  if (status.ok() && !status->controller_address().empty()) globals.controller = status->controller_address();
  return globals;
}

}  // namespace kasane::ctl
