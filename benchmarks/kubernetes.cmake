if(TARGET muster::adapter_kubernetes_api)
  muster_benchmark(kubernetes_benchmark SOURCES kubernetes_benchmark.cc
                   LIBS muster::adapter_kubernetes_api absl::strings)
endif()
