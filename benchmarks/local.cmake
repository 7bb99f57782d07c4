if(TARGET musterd AND TARGET muster)
  find_package(nlohmann_json REQUIRED)
  muster_tool(local_stamp SOURCES local_stamp.cc)
  muster_benchmark(local_benchmark SOURCES local_benchmark.cc local_daemon.cc
                           local_slurm.cc
                   LIBS muster::adapter_local_client absl::strings
                        nlohmann_json::nlohmann_json)
  target_compile_definitions(local_benchmark PRIVATE
    MUSTERD="$<TARGET_FILE:musterd>" MUSTER="$<TARGET_FILE:muster>"
    MUSTER_STAMP="$<TARGET_FILE:local_stamp>")
  add_dependencies(local_benchmark musterd muster muster-shim local_stamp)
  if(MUSTER_TESTS)
    # Every case, with few jobs.
    find_package(Python3 COMPONENTS Interpreter)
    if(Python3_FOUND)
      add_test(NAME bench/local COMMAND Python3::Interpreter
        "${CMAKE_CURRENT_SOURCE_DIR}/local_check.py"
        $<TARGET_FILE:local_benchmark>)
      set_target_properties(local_benchmark PROPERTIES EXCLUDE_FROM_ALL OFF)
      set_tests_properties(bench/local PROPERTIES LABELS local TIMEOUT 120)
    endif()
  endif()
endif()
