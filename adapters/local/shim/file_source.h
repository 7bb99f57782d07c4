// FileSource: a folder with a file for each key, as of a config map or secret.
// POSIX alone. All is opened with the rights of the process. One thread.
#pragma once

#include <string>
#include <vector>

#include "adapters/local/shim/open_file.h"

namespace muster::local {

// Functions that give no file or false say in errno why.

// The first of the folders that is there; `where` is this one, or all of them
// where none is (ENOENT).
OpenFile OpenSource(const std::vector<std::string>& folders,
                    std::string* where);

// A regular file in it. errno is EINVAL if it is something else.
OpenFile OpenKey(int folder, const std::string& key);

// The keys, sorted: regular files, without those that begin with "..", which
// are the kubelet's. O(files x log files).
bool KeysIn(int folder, std::vector<std::string>* keys);

// Whether errno, as it is, says that something is not there.
bool IsMissing();

}  // namespace muster::local
