#include "controller/random_id.h"

#include <fmt/format.h>

#include <random>

namespace kasane {

std::string RandomId() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

}  // namespace kasane
