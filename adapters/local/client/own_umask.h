// The umask of this program, as a submission has it.
#pragma once

#include <string>

namespace muster::local {

// In octal digits. "" where the kernel does not tell it (before Linux 4.7):
// to ask by setting it would take it from other threads for a moment.
std::string OwnUmask();

}  // namespace muster::local
