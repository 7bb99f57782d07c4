if(TARGET muster::adapter_local_store)
  find_package(SQLite3 3.37 REQUIRED)
  muster_benchmark(local_store_benchmark SOURCES local_store_benchmark.cc
                   LIBS muster::adapter_local_store absl::strings SQLite::SQLite3)
endif()
