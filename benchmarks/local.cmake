if(TARGET musterd AND TARGET muster)
  find_package(nlohmann_json REQUIRED)
  muster_tool(local_stamp SOURCES local_stamp.cc)
  muster_benchmark(local_benchmark SOURCES local_benchmark.cc local_daemon.cc
                   LIBS muster::adapter_local_client absl::strings
                        nlohmann_json::nlohmann_json)
  target_compile_definitions(local_benchmark PRIVATE
    MUSTERD="$<TARGET_FILE:musterd>" MUSTER="$<TARGET_FILE:muster>"
    MUSTER_STAMP="$<TARGET_FILE:local_stamp>")
  add_dependencies(local_benchmark musterd muster muster-shim local_stamp)
  if(MUSTER_TESTS)
    # Every case, with few jobs.
    add_test(NAME bench/local COMMAND local_benchmark --benchmark_format=json)
    set_tests_properties(bench/local PROPERTIES LABELS local TIMEOUT 120
      ENVIRONMENT "MUSTER_BENCH_SCALE=100")
  endif()
endif()
