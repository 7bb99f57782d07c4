# The vocabulary of Muster's CMakeLists. Each folder lists its own files:
#   lib/<layer>:  target_sources(muster_core PRIVATE a.cc b.cc)
#   test/<part>:  muster_test(<part>_test SOURCES a_test.cc b_test.cc)
#   benchmarks:   muster_benchmark(<part>_benchmark SOURCES a_benchmark.cc)
#   adapters/<a>: muster_adapter(<a> SOURCES a.cc b.cc PUBLIC ... PRIVATE ...)
#                 muster_tool(<program> SOURCES main.cc LIBS ...)

# With MUSTER_UNITY a library's sources are compiled ten at a time: most of the time
# of a source goes into headers that the others include as well. In one library no two
# sources can then have the same name in an unnamed namespace, unless it has UNITY_BUILD OFF.
function(muster_unity target size)
  if(MUSTER_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
    # GCC takes what is unnamed in a source for unnamed in a header.
    target_compile_options(${target} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# What every Muster library has in common. `export_name` is the name behind
# muster:: for those who find the installed package.
function(muster_library_defaults target export_name)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${export_name})
  set(visible PUBLIC)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL INTERFACE_LIBRARY)
    set(visible INTERFACE)
  else()
    set_target_properties(${target} PROPERTIES
      CXX_EXTENSIONS OFF
      POSITION_INDEPENDENT_CODE ON
      CXX_VISIBILITY_PRESET hidden
      VISIBILITY_INLINES_HIDDEN ON
      DEFINE_SYMBOL ""
      INSTALL_RPATH "$ORIGIN"  # One of them beside another.
      VERSION ${PROJECT_VERSION}
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    muster_unity(${target} 10)
  endif()
  target_compile_features(${target} ${visible} cxx_std_20)
  target_include_directories(${target} ${visible}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:include>)
endfunction()

# Programs have in them what they use of the imported shared libraries of these names, where their
# archives lie beside them: half of the time of a short command goes to finding and
# relocating forty libraries. Not where Muster's own are shared, which would have them twice.
function(muster_link_archives_of pattern)
  if(NOT PROJECT_IS_TOP_LEVEL OR BUILD_SHARED_LIBS OR MUSTER_SANITIZE)
    return()
  endif()
  get_directory_property(imported IMPORTED_TARGETS)
  list(FILTER imported INCLUDE REGEX "${pattern}")
  foreach(library IN LISTS imported)
    foreach(config IN ITEMS _NONE _RELEASE _RELWITHDEBINFO "")
      get_target_property(shared ${library} IMPORTED_LOCATION${config})
      string(REGEX REPLACE "\\.so[.0-9]*$" ".a" archive "${shared}")
      if(NOT archive STREQUAL shared AND EXISTS "${archive}")
        set_target_properties(${library} PROPERTIES IMPORTED_LOCATION${config} "${archive}")
      endif()
    endforeach()
  endforeach()
endfunction()

# add_subdirectory(dir), if it has come to be.
macro(muster_subdirectory dir)
  if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${dir}/CMakeLists.txt")
    add_subdirectory(${dir})
  endif()
endmacro()

# add_subdirectory of every folder in `dir` that has a CMakeLists.txt, sorted.
macro(muster_subdirectories dir)
  file(GLOB muster_lists CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}"
       "${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*/CMakeLists.txt")
  foreach(list IN LISTS muster_lists)
    get_filename_component(folder "${list}" DIRECTORY)
    add_subdirectory("${folder}")
  endforeach()
endmacro()

# CMake refuses a library without sources; a young one gets an empty file.
function(muster_ensure_sources target)
  get_target_property(sources ${target} SOURCES)
  if(NOT sources)
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/empty.cc" CONTENT "")
    target_sources(${target} PRIVATE "${CMAKE_BINARY_DIR}/empty.cc")
  endif()
endfunction()

# muster_adapter(name SOURCES ... [PUBLIC ...] [PRIVATE ...]): the library of
# adapters/<name>, muster::adapter_<name>, and what it links beside the core.
function(muster_adapter name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;PUBLIC;PRIVATE")
  add_library(muster_adapter_${name} STATIC ${arg_SOURCES})
  add_library(muster::adapter_${name} ALIAS muster_adapter_${name})
  muster_library_defaults(muster_adapter_${name} adapter_${name})
  target_link_libraries(muster_adapter_${name}
    PUBLIC  muster::core ${arg_PUBLIC}
    PRIVATE ${arg_PRIVATE})
endfunction()

function(muster_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE muster::core ${arg_LIBS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
endfunction()

# muster_tool(name SOURCES ... [LIBS ...]): a program.
function(muster_tool name)
  muster_executable(${name} ${ARGN})
endfunction()

# muster_benchmark(name SOURCES ... [LIBS ...]): a Google Benchmark program,
# its main supplied; name it <part>_benchmark, for `./dev bench <part>`. Beside tests it is
# built only where one of them runs it: that build does not measure.
function(muster_benchmark name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
  find_package(benchmark REQUIRED)
  muster_executable(${name} SOURCES ${arg_SOURCES}
                    LIBS ${arg_LIBS} benchmark::benchmark benchmark::benchmark_main)
  if(MUSTER_TESTS)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

# With MUSTER_PLAIN_TESTS the sources of tests are compiled without the sanitizers and
# without the count of lines, which stay in what they link: two thirds of the time of
# such a build goes into instrumented tests. The macro keeps the headers of Abseil in
# the one form on both sides.
function(muster_plain_test name)
  if(MUSTER_PLAIN_TESTS)
    target_compile_options(${name} PRIVATE
      -fno-sanitize=all -fno-profile-arcs -fno-test-coverage
      # GCC's false alarms about strings of precompiled headers.
      "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>")
    if(MUSTER_SANITIZE MATCHES address)
      target_compile_definitions(${name} PRIVATE __SANITIZE_ADDRESS__=1)
    endif()
  endif()
endfunction()

# With MUSTER_PCH: an eighth of the compilation of eight tests' sources is the same headers.
function(muster_precompile name)
  if(NOT TARGET muster_test_headers)
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/test_headers.cc" CONTENT "")
    add_library(muster_test_headers OBJECT "${CMAKE_BINARY_DIR}/test_headers.cc")
    target_link_libraries(muster_test_headers PRIVATE muster::core GTest::gmock GTest::gtest)
    target_precompile_headers(muster_test_headers PRIVATE
      <algorithm> <map> <string> <vector> <gmock/gmock.h> <gtest/gtest.h> <muster/muster.h>)
    muster_plain_test(muster_test_headers)
  endif()
  target_precompile_headers(${name} REUSE_FROM muster_test_headers)
endfunction()

# muster_test_main: the main of tests, without what a sanitizer adds: heap_model_test has none.
function(muster_test_main)
  if(NOT TARGET muster_test_main)
    add_library(muster_test_main STATIC "${PROJECT_SOURCE_DIR}/test/harness/test_main.cc")
    target_compile_features(muster_test_main PRIVATE cxx_std_20)
    target_compile_options(muster_test_main PRIVATE
      -fno-sanitize=all -fno-profile-arcs -fno-test-coverage)
    target_link_libraries(muster_test_main PUBLIC GTest::gmock GTest::gtest)
  endif()
endfunction()

# muster_discovery_script(variable): CMake's script that lists the tests of a program gives each a
# SKIP_REGULAR_EXPRESSION, by which one that prints the mark is skipped though it fails, and which
# nothing takes away. In `variable`, a copy that does not; harness/ctest looks at the tests.
function(muster_discovery_script variable)
  set(copy "${PROJECT_BINARY_DIR}/GoogleTestAddTests.cmake")
  if(DEFINED ${variable} AND NOT "${${variable}}" STREQUAL "${copy}")
    file(READ "${${variable}}" text)
    string(REPLACE [[SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]"]] "" text "${text}")
    set(before "")
    if(EXISTS "${copy}")
      file(READ "${copy}" before)
    endif()
    if(NOT text STREQUAL before)
      file(WRITE "${copy}" "${text}")
    endif()
    set(${variable} "${copy}" PARENT_SCOPE)
  endif()
endfunction()

# muster_test(name SOURCES ... [LIBS ...] [LABELS one] [TIMEOUT seconds] [AT_ONCE n] [INSTRUMENTED]):
# a GoogleTest program, each of its tests known to ctest as name/Suite.Test.
# MUSTER_SHARED names the folder of the scenario data; a test that lacks it
# calls GTEST_SKIP, and its program ends with 77, as ctest knows it. INSTRUMENTED: of a library that is all headers,
# which the tests themselves compile (see muster_plain_test). AT_ONCE: see muster_unity; fewer
# than 8 where they take long.
function(muster_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INSTRUMENTED" "TIMEOUT;LABELS;AT_ONCE" "SOURCES;LIBS")
  find_package(GTest REQUIRED)
  include(GoogleTest)
  muster_test_main()
  muster_executable(${name} SOURCES ${arg_SOURCES} LIBS ${arg_LIBS} muster_test_main)
  if(NOT arg_AT_ONCE)
    set(arg_AT_ONCE 8)
  endif()
  muster_unity(${name} ${arg_AT_ONCE})
  # Replaces operator new: in a source of its own, where no caller sees its body.
  set_source_files_properties(../allocation_count.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(NOT arg_INSTRUMENTED)
    muster_plain_test(${name})
    if(MUSTER_PCH)
      muster_precompile(${name})
    endif()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(DEFINED ENV{MUSTER_SHARED})
    set(shared "$ENV{MUSTER_SHARED}")
  else()
    cmake_path(SET shared NORMALIZE "${PROJECT_SOURCE_DIR}/../shared")
  endif()
  set(properties TIMEOUT ${arg_TIMEOUT}
                 SKIP_RETURN_CODE 77
                 ENVIRONMENT "MUSTER_SHARED=${shared}")
  if(arg_LABELS)
    list(APPEND properties LABELS ${arg_LABELS})
  endif()
  muster_discovery_script(_GOOGLETEST_DISCOVER_TESTS_SCRIPT)
  gtest_discover_tests(${name}
    TEST_PREFIX "${name}/"
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 120
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    PROPERTIES ${properties})
endfunction()

# muster_absent_test(name why): stands where a test would, on a machine that has not what it needs.
function(muster_absent_test name why)
  add_test(NAME ${name} COMMAND sh -c "echo '[  SKIPPED ] ${why}'; exit 77")
  set_tests_properties(${name} PROPERTIES TIMEOUT 30 SKIP_RETURN_CODE 77)
endfunction()
