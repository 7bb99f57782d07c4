# The pages of muster-sim and musterd. Their packages are fetched with npm when the project
# is configured, as web/package-lock.json names them, into the build folder;
# bundling needs no network. Without npm, or where it cannot fetch anything,
# muster-sim is built without --report, and musterd without a page.
option(MUSTER_WEB "Bundle the pages of muster-sim and musterd, where there is npm" ON)

# muster_web_bundle(out fallback): `out` becomes the C++ file with the bundled
# pages of muster-sim, or else `fallback`. muster_local_page: likewise, with the
# files of musterd's page.
function(muster_web_bundle out fallback)
  _muster_bundle(file "${fallback}" pages web_bundle.cc)
  set(${out} "${file}" PARENT_SCOPE)
endfunction()

function(muster_local_page out fallback)
  _muster_bundle(file "${fallback}" local local_page.cc)
  set(${out} "${file}" PARENT_SCOPE)
endfunction()

function(_muster_bundle out fallback what name)
  set(${out} "${fallback}" PARENT_SCOPE)
  find_program(MUSTER_NODE NAMES node nodejs)
  find_program(MUSTER_NPM npm)
  if(NOT MUSTER_WEB OR NOT MUSTER_NODE OR NOT MUSTER_NPM)
    message(STATUS "muster-sim is built without --report, musterd without a page: no npm")
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
      message(WARNING "muster-sim is built without --report, musterd without a page: npm ci failed, see ${dir}/npm.log")
      return()
    endif()
    file(TOUCH "${stamp}")
  endif()

  file(GLOB sources CONFIGURE_DEPENDS "${web}/src/*.js" "${web}/src/*.css" "${web}/src/*.html")
  add_custom_command(OUTPUT "${dir}/${name}"
    COMMAND "${MUSTER_NODE}" "${web}/build.mjs" ${what} "${dir}/${name}"
    WORKING_DIRECTORY "${dir}"
    DEPENDS ${sources} "${web}/build.mjs" "${stamp}"
    COMMENT "Bundling ${name}" VERBATIM)
  set(${out} "${dir}/${name}" PARENT_SCOPE)
endfunction()
