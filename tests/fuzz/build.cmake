# Builds the fuzz targets with the fuzz preset, as far as this machine can: cmake -DROOT=... -DWORK=... -P build.cmake
cmake_minimum_required(VERSION 3.25)

find_program(clang clang++)
if(NOT clang)
  message("SKIPPED: no clang++, so nothing is fuzzed (apt-get install clang libclang-rt-dev)")
  return()
endif()
file(WRITE ${WORK}/probe.cpp "extern \"C\" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }\n")
execute_process(COMMAND ${clang} -fsanitize=fuzzer,address,undefined ${WORK}/probe.cpp -o ${WORK}/probe
  RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
if(NOT result EQUAL 0)
  message("SKIPPED: clang++ has no libFuzzer here, so nothing is fuzzed (apt-get install libclang-rt-dev)")
  return()
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --preset fuzz --log-level=WARNING WORKING_DIRECTORY ${ROOT} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build --preset fuzz --target fuzz_targets WORKING_DIRECTORY ${ROOT}
  COMMAND_ERROR_IS_FATAL ANY)
