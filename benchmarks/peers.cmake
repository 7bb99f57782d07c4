muster_benchmark(peers_benchmark
  SOURCES peers_benchmark.cc scheduler_host.cc)
