# A misuse must not compile, and the same file without it must: cmake -DFILE=... -DCOMMAND=... -P compile_fail.cmake
# FILE holds its misuse behind `#ifdef MISUSE`, on the line marked `// must not compile`.
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ${COMMAND} ${FILE} RESULT_VARIABLE result ERROR_VARIABLE errors)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the twin without the misuse does not compile:\n${errors}")
endif()

execute_process(COMMAND ${COMMAND} -DMISUSE ${FILE} RESULT_VARIABLE result ERROR_VARIABLE errors)
if(result EQUAL 0)
  message(FATAL_ERROR "the misuse compiles")
endif()

# It must fail for the marked line, not for something else.
file(READ ${FILE} text)
string(FIND "${text}" "// must not compile" position)
if(position EQUAL -1)
  message(FATAL_ERROR "${FILE}: no line is marked '// must not compile'")
endif()
string(SUBSTRING "${text}" 0 ${position} before)
string(REGEX MATCHALL "\n" newlines "${before}")
list(LENGTH newlines line)
math(EXPR line "${line} + 1")
get_filename_component(name ${FILE} NAME)
string(REGEX REPLACE "([.+])" "\\\\\\1" name "${name}")
if(NOT errors MATCHES "${name}:${line}:[0-9]+: error:")
  message(FATAL_ERROR "no error in line ${line}, where it belongs:\n${errors}")
endif()
