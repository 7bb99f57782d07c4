if(TARGET muster::adapter_local_controller)
  find_package(nlohmann_json REQUIRED)
  muster_benchmark(local_controller_benchmark
    SOURCES local_controller_benchmark.cc
    LIBS muster::adapter_local_controller nlohmann_json::nlohmann_json)
endif()
