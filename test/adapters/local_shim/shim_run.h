// ShimRun: a folder of a test's own, and the attempts in it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "adapters/local/shim/adoption.h"
#include "adapters/local/shim/open_file.h"
#include "adapters/local/shim/process_tree.h"
#include "adapters/local/shim/shim.h"

namespace muster::local {

// Whether the descriptor is readable, or what a pidfd is of has ended, within
// the time that any test may take.
bool IsReadable(int fd);

// Waits for what no descriptor tells of, within that time.
bool Eventually(const std::function<bool()>& is_so);

// A process that runs, to see its end.
OpenFile PidfdOf(int32_t pid);

std::string ReadText(const std::string& path);

class ShimRun {
 public:
  // Anybody may enter and write in its folder, but for the attempts in it.
  ShimRun();
  // What still runs is killed, and the folder is gone.
  ~ShimRun();
  ShimRun(const ShimRun&) = delete;
  ShimRun& operator=(const ShimRun&) = delete;

  const std::string& folder() const { return folder_; }
  std::string AttemptFolder(int attempt = 0) const;
  // What tasks write and the test reads, and the other way around; $SAY and
  // $HEAR of the scripts.
  std::string said() const { return folder_ + "/said"; }
  std::string heard() const { return folder_ + "/heard"; }

  // A shell script, with PATH, SAY and HEAR in its environment and its output
  // in the attempt's folder.
  ShimSpec Script(const std::string& script) const;

  // Expects it to work.
  Shim Start(const ShimSpec& spec, int attempt = 0);
  // Until it has ended.
  ShimExit End(Shim* shim);
  ShimExit Run(const ShimSpec& spec, int attempt = 0);
  // Of an attempt.
  std::string Output(int attempt = 0) const;

  // The next line that a task says; "" if none comes.
  std::string Line();
  // The same, a number.
  int32_t Number();
  // To the task that reads $HEAR.
  void Tell(const std::string& line) const;

 private:
  std::string folder_;
  OpenFile say_;
  OpenFile hear_;
  std::string unread_;
  std::vector<int> attempts_;
};

}  // namespace muster::local
