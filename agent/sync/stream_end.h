// What the end of a stream means to the operator.
#pragma once

#include <string>
#include <string_view>

#include "vswitch/datapath.h"

namespace kasane::agent {

// `code` is a gRPC status code, `message` its text. Pure.
vswitch::Problem DescribeStreamEnd(std::string_view controller_address, std::string_view host_id, int code,
                                   std::string_view message);

}  // namespace kasane::agent
