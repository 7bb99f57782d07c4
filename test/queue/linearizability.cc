#include "test/queue/linearizability.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

namespace muster::test {

namespace {

// The heap as one thread sees it: (key, node) in order.
using Queue = std::vector<std::pair<int, int>>;

auto Find(Queue& queue, int node) {
  return std::find_if(queue.begin(), queue.end(),
                      [node](const auto& each) { return each.second == node; });
}

void Insert(Queue* queue, int key, int node) {
  const auto behind =
      std::find_if(queue->begin(), queue->end(),
                   [key](const auto& each) { return each.first > key; });
  queue->insert(behind, {key, node});
}

// Whether the queue would answer so; changes it.
bool Answers(const HeapCall& call, Queue* queue) {
  const auto at = Find(*queue, call.node);
  const bool found = at != queue->end();
  switch (call.kind) {
    case HeapCall::kPush:
      Insert(queue, call.key, call.node);
      return !found;
    case HeapCall::kPop:
    case HeapCall::kPopMany:
    case HeapCall::kPeek: {
      const size_t most = call.kind == HeapCall::kPopMany ? call.most : 1;
      if (call.nodes.size() != std::min(most, queue->size())) return false;
      for (size_t i = 0; i < call.nodes.size(); ++i) {
        if ((*queue)[i].second != call.nodes[i]) return false;
      }
      if (call.kind != HeapCall::kPeek) {
        queue->erase(queue->begin(), queue->begin() + call.nodes.size());
      }
      return true;
    }
    case HeapCall::kErase:
      if (found) queue->erase(at);
      return found == call.found;
    case HeapCall::kReprioritize:
      if (found && at->first != call.key) {
        queue->erase(at);
        Insert(queue, call.key, call.node);
      }
      return found == call.found;
    case HeapCall::kSize:
      return call.size == queue->size();
  }
  return false;
}

class Search {
 public:
  explicit Search(const std::vector<HeapCall>& calls) : calls_(calls) {
    for (size_t i = 0; i < calls.size(); ++i) {
      if (calls[i].end != HeapCall::kNever) must_ |= uint64_t{1} << i;
    }
  }

  // Whether the calls not in `done` can follow, from this queue on.
  bool Finish(uint64_t done, const Queue& queue) {
    if ((must_ & ~done) == 0) return true;
    if (!seen_.insert({done, queue}).second) return false;
    uint64_t first_end = HeapCall::kNever;
    for (size_t i = 0; i < calls_.size(); ++i) {
      if ((done >> i & 1) == 0) first_end = std::min(first_end, calls_[i].end);
    }
    for (size_t i = 0; i < calls_.size(); ++i) {
      if ((done >> i & 1) != 0 || calls_[i].start > first_end) continue;
      Queue after = queue;
      if (Answers(calls_[i], &after) &&
          Finish(done | uint64_t{1} << i, after)) {
        return true;
      }
    }
    return false;
  }

 private:
  const std::vector<HeapCall>& calls_;
  uint64_t must_ = 0;
  std::set<std::pair<uint64_t, Queue>> seen_;
};

}  // namespace

bool Linearizable(const std::vector<HeapCall>& calls) {
  return calls.size() <= 64 && Search(calls).Finish(0, {});
}

std::string Print(const std::vector<HeapCall>& calls) {
  static constexpr const char* kNames[] = {
      "Push",  "PopBest",      "PopBest", "PeekBest",
      "Erase", "Reprioritize", "size"};
  std::ostringstream out;
  for (const HeapCall& call : calls) {
    out << "[" << call.start << ", ";
    if (call.end == HeapCall::kNever) {
      out << "never";
    } else {
      out << call.end;
    }
    out << "] " << kNames[call.kind] << "(";
    switch (call.kind) {
      case HeapCall::kPush:
      case HeapCall::kReprioritize:
        out << call.node << ", key " << call.key;
        break;
      case HeapCall::kErase:
        out << call.node;
        break;
      case HeapCall::kPopMany:
        out << call.most << " at most";
        break;
      default:
        break;
    }
    out << ")";
    if (call.kind == HeapCall::kErase || call.kind == HeapCall::kReprioritize) {
      out << (call.found ? " true" : " false");
    } else if (call.kind == HeapCall::kSize) {
      out << " " << call.size;
    } else if (call.kind != HeapCall::kPush) {
      if (call.nodes.empty()) out << " nothing";
      for (int node : call.nodes) out << " " << node;
    }
    out << "\n";
  }
  return out.str();
}

}  // namespace muster::test
