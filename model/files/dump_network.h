// Networks of a dump in terms that Kasane knows: every overlay is carried in VXLAN, and of a network with
// several segments one is taken.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/files/document.h"

namespace kasane::files {

struct AdaptedNetwork {
  struct Remark {
    std::string_view feature;  // model/features.h
    std::string detail;
  };

  ValuePtr network;
  std::vector<Remark> remarks;  // What is not as the dump asks.
};

// `network` is a mapping, an entry of the section networks.
AdaptedNetwork AdaptNetwork(const ValuePtr& network);

}  // namespace kasane::files
