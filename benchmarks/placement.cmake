muster_benchmark(placement_benchmark
  SOURCES busy_cluster.cc placement_benchmark.cc scan_peer.cc)
