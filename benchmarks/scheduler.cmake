muster_benchmark(scheduler_benchmark
  SOURCES scheduler_benchmark.cc scheduler_events_benchmark.cc
          scheduler_growth_benchmark.cc scheduler_state_benchmark.cc
          scheduler_host.cc ${PROJECT_SOURCE_DIR}/test/allocation_count.cc)
