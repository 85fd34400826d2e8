// What a host dropped, as `kasanectl drops` shows it: the counters, and how fast they grow.
#pragma once

#include <string>

namespace kasane::v1 {
class ListDropsResponse;
}  // namespace kasane::v1

namespace kasane::ctl {

// `one_port`: the counters are those of one port, and the text says which ones are not told apart by port.
std::string DropsText(const v1::ListDropsResponse& reply, bool one_port);

// What was dropped between two readings: rows that grew, with the difference. A counter that shrank was
// installed anew, and counts from zero.
v1::ListDropsResponse DropsSince(const v1::ListDropsResponse& before, const v1::ListDropsResponse& after);

// The rows of a difference that took `seconds` (more than 0), as packets per second; "" if there are none.
std::string DropRatesText(const v1::ListDropsResponse& difference, double seconds);

}  // namespace kasane::ctl
