// How many tasks of each role type go where in a tree: an exact dynamic program
// over counts by role type.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace muster::solver {

// Counts of tasks by role type; those beyond the question's role types are 0.
inline constexpr uint32_t kMaxRoleTypes = 6;
using MixCounts = std::array<uint32_t, kMaxRoleTypes>;

// What the counts in every single domain of a level must meet.
struct MixRule {
  enum class Ask : uint8_t {
    kAllOrNone,  // All tasks of these role types, or none.
    kWhole,   // Each role type by itself: multiples of `amount`; once, what is
              // left over of all its tasks.
    kAtMost,  // Of these role types together.
  };
  int level = 0;
  uint32_t role_types = 0;  // Bit k: role type k.
  Ask ask = Ask::kAllOrNone;
  uint32_t amount = 1;
};

// A question in numbers. Spans stay the caller's. A domain with counts x, not
// all 0, is worth
//     sum over k < j of weight[k][j] x_k x_j + sum over k of weight[k][k] *
//     x_k (x_k - 1) / 2 + sum over k of fixed_traffic[k] x_k, less its level's
//     unit unless it has fixed tasks;
// the whole is worth what its domains are together.
struct MixQuestion {
  std::span<const uint32_t> want{};   // By role type: tasks, 1 at least.
  uint32_t resources = 0;             // That tasks share on a node.
  std::span<const int64_t> demand{};  // [role_type * resources + resource]
  std::span<const int64_t>
      weight{};  // [role_type * role_types + role_type]; or empty: 0.
  std::span<const int64_t> unit{};  // By level, widest first, nodes last.
  std::span<const MixRule> rules{};
  uint64_t budget = 0;  // Steps; one is some eight sums of two numbers.
};

// Every domain gets a table: the most it can be worth for each vector of
// counts. A node's holds what fits there; that of a wider domain is made of its
// children's, one after the other: T_i(x) = max over y of T_(i-1)(x - y) +
// V_i(y). Domains that look alike share their tables. Work is at most
// children x product of (want + 1)^2, less where a child takes few tasks.
//
// Domains are entered in the order of the tree: Open, the children, Close;
// nodes with Leaf. Keeps its memory. All values must stay below 2^60.
class MixTree {
 public:
  // More vectors of counts than this are refused: see Takes.
  static constexpr uint64_t kMaxStates = uint64_t{1} << 16;
  static bool Takes(std::span<const uint32_t> want);

  // One domain or node as entered.
  using Item = uint32_t;
  static constexpr Item kNone = 0xffffffff;

  void Start(const MixQuestion& question);
  // `fixed_traffic` by role type; see MixQuestion.
  void Open(int level, std::span<const int64_t> fixed_traffic, bool has_fixed);
  // `most` tasks by role type, as far as `free` (by resource) goes for all
  // together. `id` comes back in LeafShare.
  void Leaf(uint32_t id, std::span<const uint32_t> most,
            std::span<const int64_t> free,
            std::span<const int64_t> fixed_traffic, bool has_fixed);
  // The item, unless steps or leaves are lacking: kNone.
  Item Close();

  // The most that all tasks are worth in a domain; false if they do not fit.
  bool Best(Item item, int64_t* worth) const;
  // How that is reached: of equals, later and roomier domains get less.
  struct LeafShare {
    uint32_t id = 0;
    MixCounts tasks{};
  };
  void Collect(Item item, std::vector<LeafShare>* shares);

  uint64_t steps() const { return steps_; }
  bool out_of_steps() const { return out_of_steps_; }

 private:
  // Values for all counts up to `most`, the last role type's running fastest.
  struct Table {
    MixCounts most{};
    size_t first = 0;  // In values_.
  };
  // All domains that look alike.
  struct DomainType {
    size_t key = 0;  // In keys_.
    size_t key_size = 0;
    Table table{};
    size_t first_sum =
        0;  // In sums_: tables over the first 1, 2, ... children.
  };
  struct Node {
    uint32_t type = 0;
    uint32_t id = 0;     // Of a leaf.
    uint32_t first = 0;  // Children, in items_.
    uint32_t count = 0;
  };
  struct Frame {
    int level = 0;
    size_t children = 0;       // From here on in stack_.
    size_t fixed_traffic = 0;  // From here on in fixed_traffics_.
    bool has_fixed = false;
  };

  static constexpr int64_t kNever = -(int64_t{1} << 61);
  static bool Possible(int64_t value) { return value > kNever / 2; }

  uint32_t role_types() const {
    return static_cast<uint32_t>(question_.want.size());
  }
  int hosts() const { return static_cast<int>(question_.unit.size()) - 1; }
  size_t Size(const MixCounts& most) const;
  size_t IndexOf(const Table& table, const MixCounts& counts) const;
  bool Next(const MixCounts& most, MixCounts* counts) const;
  Table MakeTable(const MixCounts& most);
  bool Allows(int level, const MixCounts& counts) const;
  int64_t Worth(int level, std::span<const int64_t> fixed_traffic,
                bool has_fixed, const MixCounts& counts) const;
  void Judge(int level, std::span<const int64_t> fixed_traffic, bool has_fixed,
             Table* table);
  void Trim(Table* table);
  bool Fits(std::span<const int64_t> free, const MixCounts& counts) const;
  bool Merge(const Table& a, const Table& b, Table* sum);
  void KeepUseful(size_t first);
  bool Combine(const Frame& frame, Node* node);
  bool AddAll(const Node& node);
  void PushKey(int level, std::span<const int64_t> fixed_traffic,
               bool has_fixed);
  bool FindDomainType(size_t key, uint32_t* type);
  void Grow();
  MixCounts Split(const Table& rest, const Table& child, int64_t value,
                  const MixCounts& counts) const;
  void Descend(Item item, const MixCounts& counts,
               std::vector<LeafShare>* shares);

  MixQuestion question_{};
  uint64_t steps_ = 0;
  bool out_of_steps_ = false;
  std::vector<int64_t> values_;
  std::vector<int64_t> keys_;
  std::vector<DomainType> domain_types_;
  std::vector<uint32_t> slots_;  // A hash table of types, by key; + 1.
  std::vector<Table> sums_;
  std::vector<Node> items_;
  std::vector<Node> stack_;
  std::vector<Frame> frames_;
  std::vector<int64_t> fixed_traffics_;
};

}  // namespace muster::solver
