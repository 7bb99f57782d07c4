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

# muster_shown_tests(name TESTS name... COMMAND command... TIMEOUT seconds [LABELS one]): the test
# `name`, which says what became of the command as a whole, and for each test that is in it
# `name/test`. `name/run` runs it; ctest does where one of the others is asked for.
function(muster_shown_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT;LABELS" "TESTS;COMMAND")
  if(NOT arg_TESTS)
    message(FATAL_ERROR "${name}: there are no tests in it")
  endif()
  set(results "${PROJECT_BINARY_DIR}/Testing/stories/${name}")
  add_test(NAME ${name}/run COMMAND ${arg_COMMAND})
  set_tests_properties(${name}/run PROPERTIES TIMEOUT ${arg_TIMEOUT} FIXTURES_SETUP ${name}
    ENVIRONMENT "MUSTER_RESULTS=${results};MUSTER_TIME_LIMIT=${arg_TIMEOUT}")
  set(shown ${name})
  add_test(NAME ${name} COMMAND sh "${PROJECT_SOURCE_DIR}/test/reported.sh" "${results}" all)
  foreach(test IN LISTS arg_TESTS)
    add_test(NAME "${name}/${test}"
      COMMAND sh "${PROJECT_SOURCE_DIR}/test/reported.sh" "${results}" "${test}")
    list(APPEND shown "${name}/${test}")
  endforeach()
  set_tests_properties(${shown} PROPERTIES TIMEOUT 30 SKIP_RETURN_CODE 77 FIXTURES_REQUIRED ${name})
  if(arg_LABELS)
    set_tests_properties(${name}/run ${shown} PROPERTIES LABELS ${arg_LABELS})
  endif()
endfunction()

# muster_story(name SCRIPT [ARGUMENT...] TIMEOUT seconds [LABELS one] [COMMAND command...]):
# muster_shown_tests of what muster_list_stories found in the script, which the command runs, if
# one is there.
function(muster_story name script)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "TIMEOUT;LABELS" "COMMAND")
  cmake_path(GET script STEM stem)
  set(tests ${muster_listed_stories})
  list(FILTER tests INCLUDE REGEX "^${stem}:")
  list(TRANSFORM tests REPLACE "^${stem}:" "")
  if(NOT arg_COMMAND)
    set(arg_COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/${script}"
      ${arg_UNPARSED_ARGUMENTS})
  endif()
  muster_shown_tests(${name} TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}" TESTS ${tests}
    COMMAND ${arg_COMMAND})
endfunction()
