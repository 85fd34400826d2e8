// Takes the path of the admin API's Unix socket: one agent per path.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string>

namespace kasane::agent {

// Holds the right to bind the path, from Claim until it is destroyed; destroy it once bound.
class AdminSocket {
 public:
  // Makes the directory (mode 0755) if it is missing and removes a socket that nobody listens on. An error
  // if somebody does (the message has its pid), or if the path is something else.
  static absl::StatusOr<std::unique_ptr<AdminSocket>> Claim(const std::string& path);

  ~AdminSocket();
  AdminSocket(const AdminSocket&) = delete;
  AdminSocket& operator=(const AdminSocket&) = delete;

  const std::string& path() const { return path_; }

 private:
  AdminSocket(std::string path, int directory) : path_(std::move(path)), directory_(directory) {}

  std::string path_;
  int directory_;  // Locked against another agent that starts at the same moment.
};

}  // namespace kasane::agent
