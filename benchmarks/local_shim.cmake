if(TARGET muster::adapter_local_shim)
  muster_benchmark(local_shim_benchmark SOURCES local_shim_benchmark.cc
                   LIBS muster::adapter_local_shim)
  target_compile_definitions(local_shim_benchmark PRIVATE
    MUSTER_SHIM="$<TARGET_FILE:muster-shim>")
  add_dependencies(local_shim_benchmark muster-shim)
endif()
