#include "adapters/local/shim/task_variables.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <utility>

#include "adapters/local/shim/file_source.h"
#include "adapters/local/shim/open_file.h"

namespace muster::local {
namespace {

// Who has the last word on a variable.
enum class Rank : uint8_t { kInherited, kOfAllKeys, kTold, kOfOneKey };

struct Value {
  Rank rank = Rank::kInherited;
  std::string text{};
};

bool ReadAll(int file, std::string* text) {
  std::array<char, 16 << 10> block{};
  for (;;) {
    const ssize_t count = read(file, block.data(), block.size());
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text->append(block.data(), static_cast<size_t>(count));
  }
  errno = EILSEQ;  // No variable has it.
  return text->find('\0') == std::string::npos;
}

class Reader {
 public:
  explicit Reader(std::string* where) : where_(*where) {}

  void Set(const std::string& name, Rank rank, std::string text) {
    const auto [it, added] = values_.try_emplace(name);
    if (!added && it->second.rank > rank) return;
    it->second = {rank, std::move(text)};
  }

  bool Read(const ShimVariable& variable) {
    const std::string what = "variable '" + variable.name + "': ";
    const OpenFile folder = OpenSource(variable.sources, &where_);
    const bool missing = !folder.ok() && IsMissing();
    where_ = what + where_;
    if (!folder.ok()) return missing && variable.optional;
    if (!variable.key.empty()) {
      return ReadOne(folder.fd(), variable.key, variable.name, Rank::kOfOneKey,
                     variable.optional);
    }
    std::vector<std::string> keys;
    if (!KeysIn(folder.fd(), &keys)) return false;
    for (const std::string& key : keys) {
      const std::string name = variable.name + key;
      const bool is_name = name.find('=') == std::string::npos &&
                           (name.front() < '0' || name.front() > '9');
      if (!is_name || IsReserved(name)) continue;
      if (!ReadOne(folder.fd(), key, name, Rank::kOfAllKeys, false)) {
        return false;
      }
    }
    return true;
  }

  std::vector<std::string> Take() {
    std::vector<std::string> all;
    for (const auto& [name, value] : values_) {
      all.push_back(name + "=" + value.text);
    }
    return all;
  }

 private:
  bool ReadOne(int folder, const std::string& key, const std::string& name,
               Rank rank, bool optional) {
    const OpenFile file = OpenKey(folder, key);
    if (!file.ok() && IsMissing() && optional) return true;
    std::string text;
    if (!file.ok() || !ReadAll(file.fd(), &text)) {
      const int error = errno;
      where_ += "/" + key;
      errno = error;
      return false;
    }
    Set(name, rank, std::move(text));
    return true;
  }

  std::string& where_;
  std::map<std::string, Value> values_;
};

}  // namespace

bool ReadVariables(const ShimSpec& spec, std::vector<std::string>* environment,
                   std::string* where) {
  *environment = spec.environment;
  if (spec.variables.empty()) return true;
  Reader reader(where);
  for (size_t i = 0; i < spec.environment.size(); ++i) {
    const std::string& variable = spec.environment[i];
    const size_t equals = variable.find('=');
    reader.Set(variable.substr(0, equals),
               i < spec.inherited ? Rank::kInherited : Rank::kTold,
               variable.substr(equals + 1));
  }
  for (const ShimVariable& variable : spec.variables) {
    if (!reader.Read(variable)) return false;
  }
  *environment = reader.Take();
  return true;
}

}  // namespace muster::local
