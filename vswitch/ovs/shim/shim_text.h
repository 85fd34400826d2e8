// Owns a text that the shim hands out.
#pragma once

#include <string>

#include "vswitch/ovs/shim/ovs_shim.h"

namespace kasane::ovs {

class ShimText {
 public:
  ShimText() = default;
  ~ShimText() { kovs_free(text_); }
  ShimText(const ShimText&) = delete;
  ShimText& operator=(const ShimText&) = delete;

  char** out() { return &text_; }
  std::string str() const { return text_ == nullptr ? std::string() : std::string(text_); }

 private:
  char* text_ = nullptr;
};

}  // namespace kasane::ovs
