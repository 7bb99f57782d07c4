// Nodes, external usage of them, and where pods are when a scenario begins.
#pragma once

#include "absl/status/status.h"
#include "adapters/translate/topologies.h"
#include "test/conformance/flavors.h"
#include "test/conformance/kinds.h"
#include "test/conformance/scenario.h"
#include "test/conformance/translation.h"

namespace muster::conformance {

// Fills in moments, finished and node_labels, and where units are. Gangs and
// units have been translated.
absl::Status TranslateNodes(const Scenario& scenario, const Kinds& kinds,
                            const Flavors& flavors,
                            const translate::Topologies& topologies,
                            Translation* translation);

}  // namespace muster::conformance
