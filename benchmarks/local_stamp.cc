// A job of the benchmark of the local runner: tells when it began and when it
// ends, both of the monotonic clock.
//
//     local_stamp FIFO [MILLISECONDS]      it works for so long
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace {

int64_t Now() {
  timespec at{};
  clock_gettime(CLOCK_MONOTONIC, &at);
  return int64_t{at.tv_sec} * 1'000'000'000 + at.tv_nsec;
}

}  // namespace

int main(int count, char** words) {
  int64_t stamps[2] = {Now(), 0};
  if (count < 2) return 2;
  const int fifo = open(words[1], O_WRONLY | O_CLOEXEC);
  if (fifo < 0) return 1;
  if (count > 2) usleep(static_cast<useconds_t>(1000 * atoi(words[2])));
  stamps[1] = Now();
  return write(fifo, stamps, sizeof stamps) == sizeof stamps ? 0 : 1;
}
