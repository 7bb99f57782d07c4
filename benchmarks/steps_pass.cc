namespace muster::bench {}
