// Instead of the generated web_bundle.cc, where npm was not there.
#include "adapters/report/page.h"

namespace muster::inprocess {

std::optional<WebBundle> FindWebBundle(std::string_view) {
  return std::nullopt;
}

}  // namespace muster::inprocess
