# Tests that are scripts of several: ctest shows each of them, as test/reported.py tells it.

# muster_list_stories(SCRIPT...): reads what is in scripts of the current folder, before
# muster_story. In one go: each start of Python takes time.
function(muster_list_stories)
  set(scripts)
  foreach(script IN LISTS ARGN)
    list(APPEND scripts "${CMAKE_CURRENT_SOURCE_DIR}/${script}")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${scripts})
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" -B "${PROJECT_SOURCE_DIR}/test/reported.py" --list ${scripts}
    OUTPUT_VARIABLE listed ERROR_VARIABLE error RESULT_VARIABLE result
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "the tests in ${CMAKE_CURRENT_SOURCE_DIR} cannot be listed:\n${error}")
  endif()
  string(REPLACE "\n" ";" listed "${listed}")
  set(muster_listed_stories "${listed}" PARENT_SCOPE)
endfunction()

# muster_story(name SCRIPT [ARGUMENT...] [LABELS one] [TIMEOUT seconds]): the test `name`, which
# says what became of the script as a whole, and for each test that is in it `name/Class.test`.
# `name/run` runs it; ctest does where one of the others is asked for.
function(muster_story name script)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "TIMEOUT;LABELS" "")
  set(results "${PROJECT_BINARY_DIR}/Testing/stories/${name}")
  add_test(NAME ${name}/run COMMAND Python3::Interpreter
    "${CMAKE_CURRENT_SOURCE_DIR}/${script}" ${arg_UNPARSED_ARGUMENTS})
  set_tests_properties(${name}/run PROPERTIES TIMEOUT ${arg_TIMEOUT} FIXTURES_SETUP ${name}
    ENVIRONMENT "MUSTER_RESULTS=${results};MUSTER_TIME_LIMIT=${arg_TIMEOUT}")
  muster_story_result(${name} "${results}" all)
  cmake_path(GET script STEM stem)
  set(tests ${muster_listed_stories})
  list(FILTER tests INCLUDE REGEX "^${stem}:")
  if(NOT tests)
    message(FATAL_ERROR "${name}: no test is in ${script}")
  endif()
  list(TRANSFORM tests REPLACE "^${stem}:" "")
  foreach(test IN LISTS tests)
    muster_story_result(${name}/${test} "${results}" ${test})
  endforeach()
  list(TRANSFORM tests PREPEND "${name}/")
  if(arg_LABELS)
    set_tests_properties(${name}/run ${name} ${tests} PROPERTIES LABELS ${arg_LABELS})
  endif()
endfunction()

# Of muster_story: the test `name`, which reads the result `of` one.
function(muster_story_result name results of)
  string(REGEX MATCH "^[^/]+/[^/]+" story ${name})
  add_test(NAME ${name} COMMAND sh "${PROJECT_SOURCE_DIR}/test/reported.sh" "${results}" ${of})
  set_tests_properties(${name} PROPERTIES TIMEOUT 30 SKIP_RETURN_CODE 77 FIXTURES_REQUIRED ${story})
endfunction()
