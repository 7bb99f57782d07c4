# The pages of muster-sim. Their packages are fetched with npm when the project
# is configured, as web/package-lock.json names them, into the build folder;
# bundling needs no network. Without npm, or where it cannot fetch anything,
# muster-sim is built without --report.
option(MUSTER_WEB "Bundle the pages of muster-sim, where there is npm" ON)

# muster_web_bundle(out fallback): `out` becomes the C++ file with the bundled
# pages, or else `fallback`.
function(muster_web_bundle out fallback)
  set(${out} "${fallback}" PARENT_SCOPE)
  find_program(MUSTER_NODE NAMES node nodejs)
  find_program(MUSTER_NPM npm)
  if(NOT MUSTER_WEB OR NOT MUSTER_NODE OR NOT MUSTER_NPM)
    message(STATUS "muster-sim is built without --report: no npm")
    return()
  endif()

  set(web "${PROJECT_SOURCE_DIR}/web")
  set(dir "${PROJECT_BINARY_DIR}/web")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    "${web}/package.json" "${web}/package-lock.json")
  file(SHA256 "${web}/package-lock.json" hash)
  set(stamp "${dir}/node_modules/.muster-${hash}")
  if(NOT EXISTS "${stamp}")
    file(COPY "${web}/package.json" "${web}/package-lock.json" "${web}/.npmrc"
         DESTINATION "${dir}")
    execute_process(COMMAND "${MUSTER_NPM}" ci --fetch-retries=1
      WORKING_DIRECTORY "${dir}" RESULT_VARIABLE failed
      OUTPUT_FILE "${dir}/npm.log" ERROR_FILE "${dir}/npm.log")
    if(failed)
      message(WARNING "muster-sim is built without --report: npm ci failed, see ${dir}/npm.log")
      return()
    endif()
    file(TOUCH "${stamp}")
  endif()

  file(GLOB sources CONFIGURE_DEPENDS "${web}/src/*.js" "${web}/src/*.css")
  add_custom_command(OUTPUT "${dir}/web_bundle.cc"
    COMMAND "${MUSTER_NODE}" "${web}/build.mjs" "${dir}/web_bundle.cc"
    WORKING_DIRECTORY "${dir}"
    DEPENDS ${sources} "${web}/build.mjs" "${stamp}"
    COMMENT "Bundling the pages of muster-sim" VERBATIM)
  set(${out} "${dir}/web_bundle.cc" PARENT_SCOPE)
endfunction()
