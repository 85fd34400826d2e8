#include "agent/admin/admin_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "base/status.h"

namespace kasane::agent {
namespace {

absl::Status MakeDirectory(const std::filesystem::path& directory) {
  std::error_code error;
  if (std::filesystem::is_directory(directory, error)) return absl::OkStatus();
  std::filesystem::create_directories(directory, error);
  if (!error) {
    std::filesystem::permissions(directory, static_cast<std::filesystem::perms>(0755), error);
  }
  if (!error) return absl::OkStatus();
  return Error(absl::StatusCode::kUnavailable, "directory {} of the admin socket cannot be made: {}",
               directory.string(), error.message());
}

enum class Listener { kNone, kThere };

// Asks whether somebody listens at `path`, and gets its pid.
absl::StatusOr<std::pair<Listener, pid_t>> Probe(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return Invalid("admin socket {}: the path is too long", path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);

  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return Error(absl::StatusCode::kUnavailable, "socket: {}", std::strerror(errno));
  const int result = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const int error = errno;
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (result == 0) getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
  close(fd);

  // EAGAIN: there is a listener, whose backlog is full.
  if (result == 0 || error == EAGAIN) return std::pair(Listener::kThere, peer.pid);
  if (error == ECONNREFUSED || error == ENOENT) return std::pair(Listener::kNone, pid_t{0});
  return Error(absl::StatusCode::kUnavailable, "admin socket {} cannot be probed: {}", path,
               std::strerror(error));
}

absl::Status ClearPath(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return absl::OkStatus();
    return Error(absl::StatusCode::kUnavailable, "admin socket {}: {}", path, std::strerror(errno));
  }
  if (!S_ISSOCK(info.st_mode)) {
    return Error(absl::StatusCode::kAlreadyExists,
                 "admin socket {}: there is a file that is no socket; remove it or choose another admin_socket",
                 path);
  }
  std::pair<Listener, pid_t> found;
  ASSIGN_OR_RETURN(found, Probe(path));
  if (found.first == Listener::kThere) {
    return Error(absl::StatusCode::kAlreadyExists,
                 "admin socket {} in use by another kasaned (pid {}): stop it, or choose another admin_socket "
                 "for another host",
                 path, found.second);
  }
  if (unlink(path.c_str()) == 0) return absl::OkStatus();
  return Error(absl::StatusCode::kUnavailable, "stale admin socket {} cannot be removed: {}", path,
               std::strerror(errno));
}

}  // namespace

absl::StatusOr<std::unique_ptr<AdminSocket>> AdminSocket::Claim(const std::string& path) {
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  RETURN_IF_ERROR(MakeDirectory(directory));
  const int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    return Error(absl::StatusCode::kUnavailable, "directory {} of the admin socket: {}", directory.string(),
                 std::strerror(errno));
  }
  std::unique_ptr<AdminSocket> claim(new AdminSocket(path, fd));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return Error(absl::StatusCode::kAlreadyExists,
                 "another kasaned is just starting on a socket in {}: try again in a moment",
                 directory.string());
  }
  RETURN_IF_ERROR(ClearPath(path));
  return claim;
}

AdminSocket::~AdminSocket() { close(directory_); }

}  // namespace kasane::agent
