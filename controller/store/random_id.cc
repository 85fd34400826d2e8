#include "controller/store/random_id.h"

#include <fmt/format.h>

#include <random>

namespace kasane::controller {

std::string RandomId() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

}  // namespace kasane::controller
