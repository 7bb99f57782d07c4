// The queue, as text for people: the only answer that may have many thousand
// lines, so it is read without a tree of values that can be changed.
#pragma once

#include <string>
#include <string_view>

namespace muster::local {

// Of what /v1/jobs answers, JSON. `now`: seconds since 1970; `users`: whose
// each job is. What is no such answer has no lines. O(bytes).
std::string QueueText(std::string_view answer, double now, bool users);

}  // namespace muster::local
