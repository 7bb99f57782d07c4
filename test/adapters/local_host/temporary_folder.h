// A folder of a test's own.
#pragma once

#include <functional>
#include <string>

namespace muster::local {

// Anybody may enter. It is gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const {
    return path_ + "/" + name;
  }

 private:
  std::string path_;
};

// The bytes of a file; "none" if it cannot be read.
std::string TextOf(const std::string& path);
void WriteText(const std::string& path, const std::string& text);

// Looks each 2 ms, for as long as any test may take.
bool Eventually(const std::function<bool()>& is_so);

}  // namespace muster::local
