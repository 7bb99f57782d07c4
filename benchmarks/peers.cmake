muster_benchmark(peers_benchmark
  SOURCES kueue_world.cc peers_benchmark.cc scheduler_host.cc)
