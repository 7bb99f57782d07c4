// What is fuzzed: readers of what people and other programs hand in, and the
// scheduler itself. `./dev fuzz` drives these functions with libFuzzer, the
// test `fuzz_test` with the seeds and the inputs that once went wrong.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::fuzz {

// Each takes any bytes and returns what went wrong, or nothing. A crash, a
// sanitizer's complaint, more than a second or much memory are mistakes, too;
// a refusal by an error is none.

// A scenario file is read.
std::string Scenario(std::string_view input);
// A scenario file is read and, if it is small, run with all checks on.
std::string Simulation(std::string_view input);
// Files of a trace are read: a line that says which ("openb fifo", "openb
// priority", "muri fifo", "muri priority"), then the files in the order of
// OpenbOptions and MuriOptions, parted by lines "==". A gzip file may be one.
std::string Trace(std::string_view input);
// A journal is read and replayed, once as it is, once with its checksums put
// right, so that what is damaged gets past them.
std::string Journal(std::string_view input);
// A snapshot is read and restored, likewise; what comes out lives on.
std::string Snapshot(std::string_view input);
// A fabric is read: as GraphML if it begins with '<', as lines "NODE X,Y,Z"
// behind a line "labels", else as text; what comes out is asked everything.
std::string Fabric(std::string_view input);
// JSON of a Kubernetes API server is read: a line that says what it is ("pod",
// "node", "podgroup", "volcano", "queue", "muster", "owner", "volume"), then
// the object, alone and inside a list and an event.
std::string Kubernetes(std::string_view input);
// A history of a scheduler and its host: eight bytes of seed, then three bytes
// a step. Every invariant of test/property is checked after every step.
std::string History(std::string_view input);
// What an API server sends: the lines of a watch, fed in pieces whose size is
// the first byte, and all of it as a list.
std::string Watch(std::string_view input);
// A kubeconfig; the same bytes as a Lease and as a plug-in's credential.
std::string Kubeconfig(std::string_view input);
// A job manifest or a batch script; what comes out becomes a gang and gets its
// variables, and lives for a while.
std::string Manifest(std::string_view input);

// musterd's configuration, which a scheduler then takes or refuses.
std::string Config(std::string_view input);
// What happens to musterd: blocks, parted by lines "%%", of a request ("METHOD
// TARGET UID", then the body), or "pass SECONDS", "exit CODE" and "lose" (of
// the first task that runs), "restart". Answers are JSON, and what was kept
// gives the same state.
std::string LocalApi(std::string_view input);
// Files that musterd and a shim write for each other and the next one: `spec`,
// `started`, `exit`, and the list of GPUs.
std::string Shim(std::string_view input);
// All that a client sends over one connection.
std::string Http(std::string_view input);

struct Target {
  std::string_view name{};
  std::string (*run)(std::string_view) = nullptr;
};
inline constexpr Target kTargets[] = {
    {"scenario", Scenario}, {"simulation", Simulation},
    {"trace", Trace},       {"journal", Journal},
    {"snapshot", Snapshot}, {"fabric", Fabric},
    {"history", History},   {"kubernetes", Kubernetes},
    {"watch", Watch},       {"kubeconfig", Kubeconfig},
    {"manifest", Manifest}, {"config", Config},
    {"localapi", LocalApi}, {"shim", Shim},
    {"http", Http}};

// A valid input to begin with.
struct Seed {
  std::string name{};
  std::string bytes{};
};
// Those of one target, made from the repository's own examples.
std::vector<Seed> Seeds(std::string_view target);
std::vector<Seed> KubernetesSeeds();
std::vector<Seed> ManifestSeeds();
std::vector<Seed> ConfigSeeds();
std::vector<Seed> LocalApiSeeds();
std::vector<Seed> ShimSeeds();
std::vector<Seed> HttpSeeds();

}  // namespace muster::fuzz
