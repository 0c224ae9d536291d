# Installs the build, builds a consumer against it with find_package, runs it and the installed program:
# cmake -DBUILD=... -DWORK=... -DSOURCE=... -DCONFIG=... -DSETTINGS=... -P install.cmake
cmake_minimum_required(VERSION 3.25)

macro(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${what}: exit ${result}\n${output}\n${errors}")
  endif()
endmacro()

file(REMOVE_RECURSE ${WORK})
run("install" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run("configure the consumer" ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build ${SETTINGS} -DCMAKE_PREFIX_PATH=${WORK}/prefix)
run("build the consumer" ${CMAKE_COMMAND} --build ${WORK}/build)
run("run the consumer" ${WORK}/build/consumer)
# Away from the source tree the program must find its own configs.
file(MAKE_DIRECTORY ${WORK}/elsewhere)
run("run the installed program" ${CMAKE_COMMAND} -E chdir ${WORK}/elsewhere ${WORK}/prefix/bin/foretrace list)
if(output STREQUAL "")
  message(FATAL_ERROR "foretrace list prints nothing")
endif()
