// Case files: any text is a case or has faults, each of which names the file.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/status.h"
#include "tests/lab/case/case_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto parsed = kasane::lab::ParseCase("fuzz.yaml", text);
  if (parsed.ok()) {
    KASANE_CHECK(!parsed->why.empty() && !parsed->steps.empty());
  } else {
    KASANE_CHECK(kasane::Message(parsed.status()).find("fuzz.yaml") != std::string::npos);
  }
  return 0;
}
