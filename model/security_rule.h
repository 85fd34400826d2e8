// Decoding of one security group rule, by Neutron's rules of which fields go together.
#pragma once

#include "model/network_state.h"

namespace kasane::v1 {
class SecurityGroupRule;
}  // namespace kasane::v1

namespace kasane::model {

class Field;

SecurityGroupRule DecodeSecurityGroupRule(const v1::SecurityGroupRule& in, const Field& at);

}  // namespace kasane::model
