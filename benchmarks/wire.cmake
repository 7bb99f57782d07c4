if(TARGET muster::wire)
  muster_benchmark(wire_benchmark SOURCES wire_benchmark.cc LIBS muster::wire)
endif()
