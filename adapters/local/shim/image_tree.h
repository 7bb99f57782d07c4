// ImageTree: a root file system that is only read, with places in it for what
// is mounted there. POSIX alone. One thread.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace muster::local {

// A place that the image lacks is made in the nearest directory above it that
// it has: this one is in memory then, with all that the image has there. All is
// read with the rights of the process. Functions that give false say in errno
// why and in where() of what.
class ImageTree {
 public:
  // An absolute directory.
  explicit ImageTree(std::string root) : root_(std::move(root)) {}

  // Where `path`, which is absolute, is in the image: its symbolic links are
  // followed, and none leads out of it. What is below a place is that place's
  // own. Places come before those below them. ELOOP: too many links; ENOTDIR: a
  // part of it is a file; EINVAL: it is the root. O(parts + places).
  bool Place(const std::string& path, std::string* at);

  // Options of bubblewrap that make the tree, and those that close it when all
  // is mounted. E2BIG: a directory that is to be in memory has too many
  // entries. O(entries of these).
  bool Make(std::vector<std::string>* options);
  std::vector<std::string> Close() const;

  const std::string& where() const { return where_; }

 private:
  bool Follow(const std::string& link, std::string* at,
              std::vector<std::string>* parts);
  bool MakeInMemory(const std::string& directory,
                    std::vector<std::string>* options);

  const std::string root_;
  // Places, as they were asked for and as they are in the image.
  std::vector<std::pair<std::string, std::string>> places_;
  std::set<std::string> in_memory_;  // Directories; the first one is "".
  int links_ = 0;
  std::string where_;
};

}  // namespace muster::local
