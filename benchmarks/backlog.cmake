muster_benchmark(backlog_benchmark
  SOURCES backlog_benchmark.cc backlog_growth.cc backlog_hard.cc backlog_world.cc
          scheduler_host.cc)
