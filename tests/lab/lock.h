// One change of a lab at a time.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "tests/lab/layout.h"

namespace kasane::lab {

class LabLock {
 public:
  // Waits for whoever else changes this lab.
  static absl::StatusOr<LabLock> Take(const Layout& layout);
  LabLock(LabLock&& other) noexcept;
  LabLock& operator=(LabLock&&) = delete;
  ~LabLock();

  // Removes the lock's file too: the lab leaves nothing behind.
  void RemoveFile();

 private:
  LabLock(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  std::string path_;
  int fd_;
};

}  // namespace kasane::lab
