#include "vswitch/ovs/openflow/handler_threads.h"

#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace kasane::ovs {
namespace {

std::string FirstWord(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

}  // namespace

std::optional<int> CountHandlerThreads(const std::string& run_dir) {
  const std::filesystem::path process = "/proc/" + FirstWord(run_dir + "/ovs-vswitchd.pid");
  if (FirstWord(process / "comm") != "ovs-vswitchd") return std::nullopt;
  int handlers = 0;
  std::error_code error;
  for (const auto& thread : std::filesystem::directory_iterator(process / "task", error)) {
    if (FirstWord(thread.path() / "comm").starts_with("handler")) ++handlers;
  }
  if (error) return std::nullopt;
  return handlers;
}

}  // namespace kasane::ovs
