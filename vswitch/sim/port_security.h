// Port security: whether a frame that a VM sends speaks for the port's own addresses only.
#pragma once

#include <optional>

#include "vswitch/drop_reason.h"
#include "vswitch/host_view.h"
#include "vswitch/packet/packet.h"

namespace kasane::sim {

// Why `port`, whose port security is on, may not send `packet`; nothing if it may.
std::optional<vswitch::DropReason> WhyRefused(const vswitch::LocalPort& port, const packet::Packet& packet);

}  // namespace kasane::sim
