#include "test/adapters/local_store/fault_vfs.h"

#include <sqlite3.h>

#include <map>
#include <utility>

namespace muster::local {
namespace {

// What SQLite calls for a file, and what stands behind it.
struct Methods {
  sqlite3_io_methods faulty{};  // The first: files point to it.
  const sqlite3_io_methods* real = nullptr;
};

// SQLite's interface is functions without an object: one VFS at a time.
sqlite3_vfs* original = nullptr;
sqlite3_vfs vfs{};
// By kind of file. They outlive all files.
std::map<const sqlite3_io_methods*, Methods> kinds{};
uint32_t syncs = 0;
std::optional<uint32_t> writes_left{};
bool sync_fails = false;

const sqlite3_io_methods& Real(sqlite3_file* file) {
  return *reinterpret_cast<const Methods*>(file->pMethods)->real;
}

int Sync(sqlite3_file* file, int flags) {
  ++syncs;
  return sync_fails ? SQLITE_IOERR_FSYNC : Real(file).xSync(file, flags);
}

int Write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at) {
  if (writes_left == 0u) return SQLITE_FULL;
  if (writes_left) --*writes_left;
  return Real(file).xWrite(file, bytes, size, at);
}

int Open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags,
         int* out) {
  int code = original->xOpen(original, name, file, flags, out);
  if (code != SQLITE_OK || file->pMethods == nullptr) return code;
  Methods& methods = kinds[file->pMethods];
  if (methods.real == nullptr) {
    methods.real = file->pMethods;
    methods.faulty = *methods.real;
    methods.faulty.xSync = Sync;
    methods.faulty.xWrite = Write;
  }
  file->pMethods = &methods.faulty;
  return code;
}

}  // namespace

FaultVfs::FaultVfs() {
  original = sqlite3_vfs_find(nullptr);
  vfs = *original;
  vfs.pNext = nullptr;
  vfs.zName = "fault";
  vfs.xOpen = Open;
  syncs = 0;
  writes_left.reset();
  sync_fails = false;
  sqlite3_vfs_register(&vfs, 1);
}

FaultVfs::~FaultVfs() {
  sqlite3_vfs_unregister(&vfs);
  sqlite3_vfs_register(original, 1);
}

uint32_t FaultVfs::TakeSyncs() { return std::exchange(syncs, 0); }

void FaultVfs::FillAfter(std::optional<uint32_t> writes) {
  writes_left = writes;
}

void FaultVfs::FailSync(bool fail) { sync_fails = fail; }

}  // namespace muster::local
