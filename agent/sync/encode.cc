#include "agent/sync/encode.h"

#include <string>
#include <vector>

#include "kasane/v1/state.pb.h"
#include "model/decode.h"
#include "model/protocol.h"

namespace kasane::agent {

v1::Hello EncodeHello(const SyncOptions& options, const std::string& instance_id,
                      const std::vector<model::HeldResource>& held) {
  v1::Hello hello;
  hello.set_host_id(options.host_id);
  const bool has_range = options.protocols.newest >= model::kProtocolWithRange;
  hello.set_protocol_version(options.protocols.oldest);
  if (has_range) hello.set_max_protocol_version(options.protocols.newest);
  for (const std::string& address : options.tunnel_addresses) hello.add_tunnel_addresses(address);
  for (const std::string& capability : options.capabilities) hello.add_capabilities(capability);
  if (has_range) hello.add_capabilities(model::kBatchParts);
  for (const model::HeldResource& resource : held) {
    v1::HeldResource& message = *hello.add_held();
    *message.mutable_key() = model::EncodeKey(resource.key);
    *message.mutable_revision() = model::EncodeRevision(resource.revision);
  }
  hello.set_instance_id(instance_id);
  hello.set_agent_version(options.agent_version);
  return hello;
}

v1::Report EncodeReport(const PendingReport& report) {
  v1::Report message;
  for (const auto& [key, verdict] : report.verdicts) {
    v1::Verdict& out = *message.add_verdicts();
    *out.mutable_key() = model::EncodeKey(key);
    *out.mutable_revision() = model::EncodeRevision(verdict.revision);
    for (const model::Fault& fault : verdict.faults) {
      v1::Fault& text = *out.add_faults();
      *text.mutable_key() = model::EncodeKey(key);
      text.set_path(fault.path);
      text.set_message(fault.message);
    }
  }
  if (report.applied) {
    v1::Applied& applied = *message.mutable_applied();
    *applied.mutable_revision() = model::EncodeRevision(report.applied->revision);
    for (const PortId& id : report.applied->active_ports) applied.add_active_ports(id.str());
    for (const PortId& id : report.applied->down_ports) applied.add_down_ports(id.str());
  }
  for (const auto& [id, claim] : report.observed) {
    v1::AddressClaim& observed = *message.add_observed();
    observed = EncodeClaim(claim);
    observed.clear_id();  // What it is made of is said.
  }
  return message;
}

v1::AddressClaim EncodeClaim(const model::AddressClaim& claim) {
  v1::AddressClaim message;
  message.set_id(claim.id.str());
  message.set_network_id(claim.network.str());
  message.set_ip_address(claim.address.ToString());
  message.set_mac_address(claim.mac.ToString());
  message.set_port_id(claim.port.str());
  message.set_sequence(claim.sequence);
  message.set_router(claim.router);
  return message;
}

}  // namespace kasane::agent
