# Install rules: libraries, headers, the CMake package, pkg-config files. The
# wire, graphml and workload libraries are components of their own, for those who
# do without Protobuf, pugixml or yaml-cpp; so is the heap, for those who want
# nothing else.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/muster")

# install_library(target part): the library, its targets file, its .pc file.
# `requires` is pkg-config's list: the libraries are static, so what links
# them links these as well.
function(install_library target part requires)
  install(TARGETS ${target} EXPORT muster-${part}-targets
          ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(EXPORT muster-${part}-targets NAMESPACE muster:: DESTINATION "${package_dir}")

  cmake_path(SET pc_dir "${CMAKE_INSTALL_PREFIX}")
  cmake_path(APPEND pc_dir "${CMAKE_INSTALL_LIBDIR}" pkgconfig)
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${pc_dir}" OUTPUT_VARIABLE pc_prefix)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL INTERFACE_LIBRARY)
    set(pc_libs "")
  else()
    set(pc_libs "-L\${libdir} -l${target}")
  endif()
  set(pc_requires "${requires}")
  if(part STREQUAL core)
    set(pc_name muster)
  else()
    set(pc_name muster-${part})
  endif()
  configure_file("${PROJECT_SOURCE_DIR}/cmake/muster.pc.in"
                 "${PROJECT_BINARY_DIR}/${pc_name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${pc_name}.pc"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()

install_library(muster_heap heap "")
install_library(muster_core core
  "absl_status absl_statusor absl_btree absl_cleanup absl_flat_hash_map absl_flat_hash_set absl_hash absl_inlined_vector absl_span absl_str_format absl_strings")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/muster" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h" PATTERN "wire" EXCLUDE
        PATTERN "workload" EXCLUDE PATTERN "graphml.h" EXCLUDE)
if(TARGET muster_wire)
  install_library(muster_wire wire "muster protobuf")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/muster/wire"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/muster" FILES_MATCHING PATTERN "*.h")
  # The generated messages, and what hosts in other languages generate from.
  get_target_property(generated muster_wire MUSTER_GENERATED_HEADERS)
  get_target_property(protos muster_wire MUSTER_PROTOS)
  install(DIRECTORY "${generated}/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/muster/v1"
          FILES_MATCHING PATTERN "*.pb.h")
  install(DIRECTORY "${protos}/" DESTINATION "${CMAKE_INSTALL_DATADIR}/muster/proto/muster/v1"
          FILES_MATCHING PATTERN "*.proto")
endif()
if(TARGET muster_graphml)
  install_library(muster_graphml graphml "muster pugixml absl_flat_hash_map absl_strings")
  install(FILES "${PROJECT_SOURCE_DIR}/include/muster/fabric/graphml.h"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/muster/fabric")
endif()

if(TARGET muster_workload)
  install_library(muster_workload workload "muster yaml-cpp absl_strings")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/muster/workload"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/muster" FILES_MATCHING PATTERN "*.h")
endif()

foreach(program IN ITEMS muster-sim muster-kube kubectl-muster musterd muster muster-shim)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  endif()
endforeach()
if(TARGET muster-kube)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/adapters/kubernetes/deploy"
                    "${PROJECT_SOURCE_DIR}/adapters/kubernetes/examples"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/muster/kubernetes"
          FILES_MATCHING PATTERN "*.yaml" PATTERN "*.json")
endif()
if(TARGET muster)
  install(PROGRAMS "$<TARGET_FILE_DIR:muster>/muster-exec"
          DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
if(TARGET musterd)
  # Its paths are those of an installation in /usr; cmake --install may name another place.
  set(unit "${PROJECT_BINARY_DIR}/musterd.service")
  install(CODE "
    file(READ \"${PROJECT_SOURCE_DIR}/adapters/local/host/musterd.service\" unit)
    string(REPLACE /usr/bin/ \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/\" unit \"\${unit}\")
    string(REPLACE /usr/share/doc/muster/ \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}/\" unit \"\${unit}\")
    file(WRITE \"${unit}\" \"\${unit}\")")
  install(FILES "${unit}" DESTINATION "${CMAKE_INSTALL_DATADIR}/muster/local")
endif()
if(TARGET muster_man)
  foreach(section IN ITEMS 1 5 8)
    install(DIRECTORY "${PROJECT_BINARY_DIR}/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}"
            FILES_MATCHING PATTERN "*.${section}")
  endforeach()
endif()
if(TARGET muster-sim)
  install(FILES "${PROJECT_SOURCE_DIR}/adapters/cli/muster-sim.bash" RENAME muster-sim
          DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples/scenarios"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/muster" FILES_MATCHING PATTERN "*.yaml")
endif()

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/muster-config.cmake.in" "${PROJECT_BINARY_DIR}/muster-config.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/muster-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/muster-config.cmake"
              "${PROJECT_BINARY_DIR}/muster-config-version.cmake"
        DESTINATION "${package_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/THIRD-PARTY-NOTICES"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
# The documents, of which those of the programs are named by what is installed.
if(EXISTS "${PROJECT_SOURCE_DIR}/docs")  # Packages of the library alone go without.
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
          FILES_MATCHING PATTERN "*.md" PATTERN "*.yaml" PATTERN "*.json" PATTERN "*.png" PATTERN "*.svg"
          PATTERN "man" EXCLUDE)
endif()
