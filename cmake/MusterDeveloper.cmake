# What a developer's build adds: a build type, warnings, sanitizers, ccache.
# Included only when Muster is the top project, so that none of it reaches a
# host that uses add_subdirectory.

get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT multi_config AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

add_compile_options(
  -Wall -Wextra -Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi -Wvla
  # GCC's plain -Wshadow also objects to the enumerators of an enum class.
  $<IF:$<CXX_COMPILER_ID:GNU>,-Wshadow=local,-Wshadow>
  # GCC 12 takes "a" + std::string for an overlapping copy (its bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${MUSTER_WERROR}>:-Werror>)

if(MUSTER_SANITIZE)
  add_compile_options(-fsanitize=${MUSTER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${MUSTER_SANITIZE})
  # With sanitizers GCC takes parts of std::regex and std::function that are
  # set for uninitialised; its manual warns of such false alarms.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  # Clang links its runtime statically; tests that count allocations replace
  # the operator new in it.
  add_link_options($<$<CXX_COMPILER_ID:Clang>:LINKER:-z,muldefs>)
endif()

if(MUSTER_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
if(MUSTER_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()

find_program(MUSTER_CCACHE ccache)
if(MUSTER_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${MUSTER_CCACHE}")
  if(MUSTER_PCH)  # Else it keeps nothing that was compiled with such headers.
    set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${MUSTER_CCACHE}")
  endif()
endif()

set(CMAKE_CXX_EXTENSIONS OFF)

# Programs land in one place, where `./dev run` looks for them.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
