// kasanectl watch
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "ctl/clients.h"
#include "ctl/commands/commands.h"
#include "ctl/commands/run.h"
#include "kasane/v1/controller.pb.h"
#include "model/decode.h"
#include "model/port_status_text.h"

namespace kasane::ctl {
namespace {

std::string KeyText(const std::optional<model::ResourceKey>& key) {
  return key ? model::ToString(*key) : "a resource of another version";
}

std::string EventLine(const v1::WatchResponse& event) {
  switch (event.kind_case()) {
    case v1::WatchResponse::kUpsert: {
      const v1::ResourceWithStatus& resource = event.upsert();
      const bool is_port = resource.port_status() != v1::PORT_STATUS_UNSPECIFIED;
      return fmt::format("{}  revision {}{}", KeyText(model::DecodeKey(resource.resource())),
                         resource.resource().revision().counter(),
                         is_port ? "  " + std::string(model::Label(resource.port_status())) : "");
    }
    case v1::WatchResponse::kDeleted:
      return fmt::format("{}  deleted", KeyText(model::DecodeKey(event.deleted())));
    case v1::WatchResponse::kSynced:
      return fmt::format("-- all of revision {}; changes follow --", event.synced().counter());
    case v1::WatchResponse::kCommitted:
      return fmt::format("-- revision {} --", event.committed().counter());
    case v1::WatchResponse::KIND_NOT_SET:
      break;
  }
  return "an event of another version";
}

int RunWatch(const std::vector<std::string>& kinds, const Globals& globals) {
  v1::WatchRequest request;
  for (const std::string& text : kinds) {
    const auto kind = KindArgument(text);
    if (!kind) return kUsage;
    request.mutable_filter()->add_kinds(model::EncodeKey({*kind, "-"}).kind());
  }
  auto client = ControllerClient::Dial(globals);
  if (!client.ok()) return Failed(client.status());
  // One event a line, whatever the format: a reader must be able to tell where one ends.
  return Failed(client->Watch(request, [&](const v1::WatchResponse& event) {
    fmt::print("{}\n", globals.format == Format::kTable ? EventLine(event) : ToJson(event).dump());
    std::fflush(stdout);
  }));
}

}  // namespace

void AddWatch(cli::Command& app, Action& action) {
  auto kinds = std::make_shared<std::vector<std::string>>();
  cli::Command command =
      app.AddCommand("watch", "Follow the controller's resources as they change, until interrupted");
  command.AddOption("KIND", *kinds, "ports, networks, ...; all if none");
  command.Footer(
      "With -o json each event is a line of its own, with the revision that it belongs to.\n"
      "Examples:\n  kasanectl watch\n  kasanectl watch ports -o json\n"
      "Next: kasanectl get KIND ID shows the resource whole.");
  RunWhenParsed(command, action, kinds, RunWatch);
}

}  // namespace kasane::ctl
