# muster_header_check: each public header compiles alone, on the first line of
# a file of its own. Not part of `all`; `./dev check` builds it.

file(GLOB_RECURSE headers CONFIGURE_DEPENDS
     RELATIVE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/include/muster/*.h")
if(NOT TARGET muster::wire)
  list(FILTER headers EXCLUDE REGEX "^muster/wire")
endif()

set(units "")
foreach(header IN LISTS headers)
  string(REPLACE ".h" ".cc" unit "${PROJECT_BINARY_DIR}/header_check/${header}")
  file(CONFIGURE OUTPUT "${unit}" CONTENT "#include \"${header}\"  // alone\n#include \"${header}\"  // twice\n")
  list(APPEND units "${unit}")
endforeach()

if(units)
  add_library(muster_header_check OBJECT EXCLUDE_FROM_ALL ${units})
  target_link_libraries(muster_header_check PRIVATE muster::core muster::heap $<TARGET_NAME_IF_EXISTS:muster::wire>)
  target_compile_options(muster_header_check PRIVATE -Werror)
endif()
