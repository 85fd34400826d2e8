// Decoding of one security group rule, by Neutron's rules of which fields go together.
#pragma once

#include "agent/state/network_state.h"

namespace kasane::v1 {
class SecurityGroupRule;
}  // namespace kasane::v1

namespace kasane {

class Field;

model::SecurityGroupRule DecodeSecurityGroupRule(const v1::SecurityGroupRule& in, const Field& at);

}  // namespace kasane
