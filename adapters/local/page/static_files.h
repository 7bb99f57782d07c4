// The files of the page, as they are compiled into musterd.
#pragma once

#include <span>
#include <string_view>

namespace muster::local {

struct StaticFile {
  std::string_view path{};  // "/page.js"
  std::string_view content_type{};
  std::string_view body{};
};

// Bundled from web/ by build.mjs; of a build without npm, a page that says so.
std::span<const StaticFile> StaticFiles();

// Null: there is none. O(files).
const StaticFile* FindStaticFile(std::string_view path);

}  // namespace muster::local
