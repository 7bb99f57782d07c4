muster_benchmark(gangs_benchmark SOURCES busy_cluster.cc gangs_benchmark.cc)
