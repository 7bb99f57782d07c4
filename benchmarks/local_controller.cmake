if(TARGET muster::adapter_local_controller)
  muster_benchmark(local_controller_benchmark
    SOURCES local_controller_benchmark.cc
    LIBS muster::adapter_local_controller)
endif()
