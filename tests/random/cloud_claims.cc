// The claims of a cloud.
#include <algorithm>
#include <memory>
#include <vector>

#include "tests/random/cloud_builder.h"

namespace kasane::random {

// Of an address that the port may have by a pair: another's fixed one, if there is one.
void CloudBuilder::ClaimByPair(const model::Port& port, model::AddressClaim& claim) {
  const model::AllowedAddressPair& pair = Pick(port.allowed_address_pairs, random_);
  claim.mac = pair.mac.value_or(port.mac);
  const bool host = pair.prefix.length() == pair.prefix.address().bits();
  std::vector<IpAddress> choices = {Nth(pair.prefix, host ? 0 : static_cast<uint32_t>(Below(random_, 40)))};
  for (const auto& other : Vms()) {
    if (other->network != port.network) continue;
    for (const model::FixedIp& fixed : other->fixed_ips) {
      if (pair.prefix.Contains(fixed.address)) choices.push_back(fixed.address);
    }
  }
  claim.address = Pick(choices, random_);
}

void CloudBuilder::ClaimOfAnybodys(const model::Port& port, model::AddressClaim& claim) {
  const auto vms = Vms();
  const model::Port& of = Chance(random_, 2) ? port : *Pick(vms, random_);
  claim.mac = Chance(random_, 3) ? NthMac(78) : port.mac;
  claim.address = of.fixed_ips.empty()
                      ? IpAddress::V4(0x0a000000 + 210 + static_cast<uint32_t>(Below(random_, 6)))
                      : of.fixed_ips.front().address;
}

void CloudBuilder::AddClaim() {
  const auto vms = Vms();
  if (vms.empty()) return;
  const auto& port = Pick(vms, random_);
  model::AddressClaim claim;
  claim.network = port->network;
  claim.port = port->id;
  claim.mac = port->mac;
  claim.router = Chance(random_, 3);
  if (Chance(random_, 5)) {  // As a VM that is a router does.
    claim.address = IpAddress::LinkLocal(port->mac);
    claim.router = true;
  } else if (!port->allowed_address_pairs.empty() && !Chance(random_, 4)) {
    ClaimByPair(*port, claim);
  } else {
    ClaimOfAnybodys(*port, claim);
  }
  claim.sequence = 1 + Below(random_, 3);
  claim.id = model::MakeClaimId(claim.network, claim.address);
  state_.address_claims[claim.id] = std::make_shared<model::AddressClaim>(claim);
}

void CloudBuilder::SetClaim(model::AddressClaim claim) {
  claim.id = model::MakeClaimId(claim.network, claim.address);
  for (const auto& [id, other] : state_.address_claims)
    claim.sequence = std::max(claim.sequence, other->sequence + 1);
  state_.address_claims[claim.id] = std::make_shared<model::AddressClaim>(claim);
}

}  // namespace kasane::random
