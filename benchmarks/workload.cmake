if(TARGET muster::workload)
  muster_benchmark(workload_benchmark SOURCES workload_benchmark.cc LIBS muster::workload)
endif()
