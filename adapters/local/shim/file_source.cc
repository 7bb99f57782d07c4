#include "adapters/local/shim/file_source.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace muster::local {

bool IsMissing() { return errno == ENOENT || errno == ENOTDIR; }

OpenFile OpenSource(const std::vector<std::string>& folders,
                    std::string* where) {
  std::string tried;
  for (const std::string& folder : folders) {
    OpenFile open_folder(
        open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    *where = folder;
    if (open_folder.ok() || !IsMissing()) return open_folder;
    tried += (tried.empty() ? "" : ", ") + folder;
  }
  *where = tried;
  errno = ENOENT;
  return OpenFile();
}

OpenFile OpenKey(int folder, const std::string& key) {
  OpenFile file(openat(folder, key.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (file.ok() &&
      (fstat(file.fd(), &status) != 0 || !S_ISREG(status.st_mode))) {
    file.Close();
    errno = EINVAL;
  }
  return file;
}

bool KeysIn(int folder, std::vector<std::string>* keys) {
  DIR* const directory = fdopendir(dup(folder));
  if (directory == nullptr) return false;
  while (const dirent* entry = readdir(directory)) {
    const std::string name = entry->d_name;
    struct stat status{};
    if (!name.starts_with("..") && name != "." &&
        fstatat(folder, name.c_str(), &status, 0) == 0 &&
        S_ISREG(status.st_mode)) {
      keys->push_back(name);
    }
  }
  closedir(directory);
  std::ranges::sort(*keys);
  return true;
}

}  // namespace muster::local
