#include "adapters/local/shim/image_tree.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <memory>
#include <ranges>
#include <string_view>

namespace muster::local {
namespace {

constexpr int kMostLinks = 40;
// Bubblewrap takes 9,000 words in all.
constexpr size_t kMostWords = 8000;

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// Puts the parts of the path on the stack, so that its first is on top.
void Push(std::string_view path, std::vector<std::string>* parts) {
  for (size_t end = path.size(); end != 0 && end != std::string::npos;) {
    const size_t slash = path.rfind('/', end - 1);
    const size_t begin = slash == std::string::npos ? 0 : slash + 1;
    const std::string_view part = path.substr(begin, end - begin);
    if (!part.empty() && part != ".") parts->emplace_back(part);
    end = slash;
  }
}

void Up(std::string* path) {
  const size_t slash = path->rfind('/');
  path->resize(slash == std::string::npos ? 0 : slash);
}

bool ReadLink(const std::string& path, std::string* target) {
  std::array<char, PATH_MAX> text{};
  const ssize_t size = readlink(path.c_str(), text.data(), text.size());
  if (size < 0) return false;
  target->assign(text.data(), static_cast<size_t>(size));
  return true;
}

// "." and ".." are not among them.
bool Names(const std::string& path, std::vector<std::string>* names) {
  const Directory directory(opendir(path.c_str()));
  if (directory == nullptr) return false;
  while (const dirent* entry = readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names->emplace_back(name);
  }
  std::ranges::sort(*names);
  return true;
}

}  // namespace

bool ImageTree::Follow(const std::string& link, std::string* at,
                       std::vector<std::string>* parts) {
  std::string target;
  if (++links_ > kMostLinks) {
    errno = ELOOP;
    return false;
  }
  if (!ReadLink(root_ + link, &target)) return false;
  if (target.starts_with('/')) at->clear();
  Push(target, parts);
  return true;
}

bool ImageTree::Place(const std::string& path, std::string* at) {
  where_ = "image: " + root_ + path;
  for (const auto& [asked, is] : places_) {
    if (!path.starts_with(asked) ||
        (path.size() > asked.size() && path[asked.size()] != '/')) {
      continue;
    }
    *at = is + path.substr(asked.size());
    return true;
  }
  at->clear();
  links_ = 0;
  bool there = true;  // All that is in *at.
  std::vector<std::string> parts;
  Push(path, &parts);
  while (!parts.empty()) {
    const std::string part = std::move(parts.back());
    parts.pop_back();
    if (part == "..") {
      Up(at);
      continue;
    }
    const std::string next = *at + "/" + part;
    struct stat status{};
    if (there && lstat((root_ + next).c_str(), &status) != 0) {
      if (errno != ENOENT) return false;
      in_memory_.insert(*at);
      there = false;
    }
    if (there && S_ISLNK(status.st_mode)) {
      if (!Follow(next, at, &parts)) return false;
      continue;
    }
    if (there && !S_ISDIR(status.st_mode) && !parts.empty()) {
      errno = ENOTDIR;
      return false;
    }
    *at = next;
  }
  errno = EINVAL;  // Of the root itself.
  if (at->empty()) return false;
  places_.emplace_back(path, *at);
  return true;
}

bool ImageTree::MakeInMemory(const std::string& directory,
                             std::vector<std::string>* options) {
  const auto add = [options](std::initializer_list<std::string> words) {
    options->insert(options->end(), words);
  };
  where_ = "image: " + root_ + directory;
  if (!directory.empty()) add({"--perms", "0755", "--tmpfs", directory});
  std::vector<std::string> names;
  if (!Names(root_ + directory, &names)) return false;
  for (const std::string& name : names) {
    const std::string path = directory + "/" + name;
    const bool is_place = std::ranges::any_of(
        places_, [&](const auto& place) { return place.second == path; });
    if (is_place || in_memory_.contains(path)) continue;
    std::string target;
    if (ReadLink(root_ + path, &target)) {
      add({"--symlink", target, path});
    } else {
      add({"--ro-bind", root_ + path, path});
    }
  }
  if (options->size() <= kMostWords) return true;
  where_ += " has too many entries for what is to be mounted in it";
  errno = E2BIG;
  return false;
}

bool ImageTree::Make(std::vector<std::string>* options) {
  if (!in_memory_.contains("")) {
    options->insert(options->end(), {"--ro-bind", root_, "/"});
  }
  return std::ranges::all_of(in_memory_, [&](const std::string& directory) {
    return MakeInMemory(directory, options);
  });
}

std::vector<std::string> ImageTree::Close() const {
  std::vector<std::string> options;
  for (const std::string& directory : std::views::reverse(in_memory_)) {
    options.emplace_back("--remount-ro");
    options.push_back(directory.empty() ? "/" : directory);
  }
  return options;
}

}  // namespace muster::local
