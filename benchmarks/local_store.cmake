if(TARGET muster::adapter_local_store)
  muster_benchmark(local_store_benchmark SOURCES local_store_benchmark.cc
                   LIBS muster::adapter_local_store absl::strings)
endif()
