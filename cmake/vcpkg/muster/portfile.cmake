# An overlay port: vcpkg install muster --overlay-ports=<this repository>/cmake/vcpkg
# It builds the tree that it lies in.
vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
cmake_path(SET SOURCE_PATH NORMALIZE "${CURRENT_PORT_DIR}/../../..")

vcpkg_check_features(
    OUT_FEATURE_OPTIONS FEATURE_OPTIONS
    FEATURES
        graphml  MUSTER_GRAPHML
        wire     MUSTER_WIRE
        workload MUSTER_WORKLOAD
)

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        ${FEATURE_OPTIONS}
        -DMUSTER_BENCHMARKS=OFF
        -DMUSTER_EXAMPLES=OFF
        -DMUSTER_TESTS=OFF
        -DMUSTER_TOOLS=OFF
        -DMUSTER_WERROR=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME muster CONFIG_PATH lib/cmake/muster)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/THIRD-PARTY-NOTICES")
