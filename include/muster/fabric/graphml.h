// Fabrics as GraphML (http://graphml.graphdrawing.org), to exchange them with
// programs that draw and edit graphs: the library muster::graphml.
// docs/fabrics.md says which data of nodes and edges is read.
#ifndef MUSTER_FABRIC_GRAPHML_H_
#define MUSTER_FABRIC_GRAPHML_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "muster/export.h"
#include "muster/fabric/fabric.h"

namespace muster {

// Both may be called by any thread: they share nothing, and what they return is
// the caller's. Both take time and memory in proportion to the text.

// The fabric that a document in UTF-8 describes: one graph, undirected and not
// nested. Data of other programs is passed over. InvalidArgument for text that
// pugixml does not read as XML (what stands behind an '&' that begins no entity
// it takes as it is), for a document type, hyperedges and ports, and for graphs
// that Fabric::Make refuses; with the line, unless the graph as a whole is
// wrong.
MUSTER_API absl::StatusOr<Fabric> FabricFromGraphml(std::string_view text);

// Reads back as an equal fabric: with its form (torus, dragonfly, rails), or
// with the same nodes, switches and links in the order of their keys.
MUSTER_API std::string FabricToGraphml(const Fabric& fabric);

}  // namespace muster

#endif  // MUSTER_FABRIC_GRAPHML_H_
