// Which captured frames say what.
#pragma once

#include <string>
#include <vector>

#include "tests/lab/case/fence.h"

namespace kasane::lab {

// The network delivered it to the VM, and it is no background.
bool IsReceived(const CapturedFrame& frame);
size_t CountReceived(const std::vector<CapturedFrame>& frames);

// A kernel's talk with itself, which no test causes: membership reports of IGMP and MLD.
bool IsBackground(const CapturedFrame& frame);

// A datagram to or from the probe port that is not the probe with this text.
bool IsStreamPacket(const CapturedFrame& frame, const std::string& text);

// An ICMP or ICMPv6 echo reply, or its first fragment, with this text.
bool IsEchoReplyWith(const std::vector<uint8_t>& frame, const std::string& text);

}  // namespace kasane::lab
