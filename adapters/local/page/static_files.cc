#include "adapters/local/page/static_files.h"

namespace muster::local {

const StaticFile* FindStaticFile(std::string_view path) {
  for (const StaticFile& file : StaticFiles()) {
    if (file.path == path) return &file;
  }
  return nullptr;
}

}  // namespace muster::local
