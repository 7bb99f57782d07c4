#include "muster/cluster_view.h"

#include "lib/cluster/cluster.h"

namespace muster {

std::span<const NodeIndex> ClusterView::nodes() const {
  return cluster_->nodes();
}

NodeId ClusterView::Find(std::string_view key) const {
  return cluster_->Find(key);
}

const Node& ClusterView::node(NodeIndex node) const {
  return cluster_->node(node);
}

bool ClusterView::available(NodeIndex node) const {
  return cluster_->available(node);
}

uint32_t ClusterView::resource_count() const {
  return cluster_->resource_count();
}

ResourceKind ClusterView::device_kind() const {
  return cluster_->device_kind();
}

int64_t ClusterView::capacity(NodeIndex node, ResourceKind kind) const {
  return cluster_->capacity(node, kind);
}

int64_t ClusterView::free(NodeIndex node, ResourceKind kind,
                          Ledger ledger) const {
  return cluster_->free(node, kind, ledger);
}

uint32_t ClusterView::free_devices(NodeIndex node, Ledger ledger) const {
  return cluster_->free_devices(node, ledger);
}

int32_t ClusterView::free_milli(NodeIndex node, uint32_t device,
                                Ledger ledger) const {
  return cluster_->free_milli(node, device, ledger);
}

bool ClusterView::overcommitted(NodeIndex node, Ledger ledger) const {
  return cluster_->Overcommitted(node, ledger);
}

const Resources& ClusterView::total_capacity() const {
  return cluster_->total_capacity();
}

}  // namespace muster
