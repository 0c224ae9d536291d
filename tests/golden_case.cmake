# Runs tests/golden/<case>/cmd through the program and compares every byte:
# cmake -DROOT=... -DPROGRAM=... -DCASE=<folder> -DWORK=<scratch folder> -P golden_case.cmake
# cmd: shell lines, run in ROOT with foretrace in PATH and $WORK to write to. expected: stdout. Optional:
# expected_err: stderr, code: the exit code (0). FORETRACE_UPDATE_GOLDEN=1 rewrites them.
cmake_minimum_required(VERSION 3.25)

get_filename_component(folder ${PROGRAM} DIRECTORY)
set(ENV{PATH} "${folder}:$ENV{PATH}")
file(MAKE_DIRECTORY ${WORK})
set(ENV{WORK} ${WORK})
set(ENV{FORETRACE_CONFIGS} ${ROOT}/configs)
# Nobody's own defaults, nor the width of a terminal.
unset(ENV{COLUMNS})
set(ENV{XDG_CONFIG_HOME} ${WORK})
execute_process(COMMAND sh ${CASE}/cmd WORKING_DIRECTORY ${ROOT} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE code)
# Where scratch files lie depends on the machine.
string(REPLACE "${WORK}" "WORK" out "${out}")
string(REPLACE "${WORK}" "WORK" err "${err}")

function(compare what got)
  set(file ${CASE}/${what})
  if(DEFINED ENV{FORETRACE_UPDATE_GOLDEN})
    if(NOT got STREQUAL "" OR what STREQUAL "expected")
      file(WRITE ${file} "${got}")
    else()
      file(REMOVE ${file})
    endif()
    return()
  endif()
  set(want "")
  if(EXISTS ${file})
    # CMake reads brackets and semicolons in files as they are; only lists split them.
    file(READ ${file} want)
  endif()
  if(NOT got STREQUAL want)
    message(FATAL_ERROR "${file} differs\n--- expected\n${want}\n--- got\n${got}\n--- stderr\n${err}")
  endif()
endfunction()

if(code EQUAL 0)
  set(code_text "")
else()
  set(code_text "${code}\n")
endif()
compare(expected "${out}")
compare(expected_err "${err}")
compare(code "${code_text}")
