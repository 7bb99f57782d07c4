// Of a build without npm.
#include "adapters/local/page/static_files.h"

namespace muster::local {

std::span<const StaticFile> StaticFiles() {
  static constexpr StaticFile kFiles[] = {
      {"/", "text/plain; charset=utf-8",
       "This musterd was built without npm, and has no page. Its API is here; "
       "muster queue and muster top show the same in a terminal.\n"}};
  return kFiles;
}

}  // namespace muster::local
