if(TARGET muster::adapter_kubernetes_client)
  find_package(simdjson REQUIRED)
  muster_benchmark(kubernetes_benchmark
    SOURCES kubernetes_benchmark.cc kubernetes_controller_benchmark.cc
            kubernetes_objects.cc kubernetes_world.cc scheduler_host.cc
    LIBS muster_kube_host absl::strings simdjson::simdjson)
endif()
# For ./dev bench kube.
if(TARGET muster::adapter_kubernetes_client)
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json REQUIRED)
  muster_executable(kube_requests SOURCES kube_requests.cc
                    LIBS muster::adapter_kubernetes_client absl::strings
                         CLI11::CLI11 nlohmann_json::nlohmann_json)
endif()
