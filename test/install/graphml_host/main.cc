// Headers and both libraries come from the package: a fabric goes through its
// GraphML.
#include <cstdio>

#include "muster/fabric/graphml.h"

int main() {
  const auto fabric =
      muster::Fabric::Make(muster::Torus3d{.x = 2, .nodes = {"a", "b"}});
  const auto again =
      fabric.ok() ? muster::FabricFromGraphml(muster::FabricToGraphml(*fabric))
                  : fabric.status();
  if (again.ok() && again->description() == fabric->description()) return 0;
  std::fprintf(stderr, "graphml_host: another fabric came back\n");
  return 1;
}
