# Installs the build, builds a consumer against it with find_package and with pkg-config, runs it and the installed program:
# cmake -DBUILD=... -DWORK=... -DSOURCE=... -DSHARED=ON or OFF -DCOMPILER=... -DSETTINGS=... -P install.cmake
cmake_minimum_required(VERSION 3.25)

macro(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${what}: exit ${result}\n${output}\n${errors}")
  endif()
endmacro()

file(REMOVE_RECURSE ${WORK})
run("install" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)

# The prefix is copied, as nothing may know where it was.
file(COPY ${WORK}/prefix/lib DESTINATION ${WORK}/moved)
file(COPY ${WORK}/prefix/include DESTINATION ${WORK}/moved)

# Libraries are named, never where they lie here.
file(GLOB_RECURSE texts ${WORK}/prefix/lib/cmake/*.cmake ${WORK}/prefix/lib/pkgconfig/*.pc)
foreach(expected ForetraceConfig.cmake ForetraceTargets.cmake ForetraceSchedulingTargets.cmake foretrace.pc foretrace-scheduling.pc)
  if(NOT "${texts}" MATCHES "/${expected}(;|$)")
    message(FATAL_ERROR "${expected} is not installed: ${texts}")
  endif()
endforeach()
foreach(text IN LISTS texts)
  file(STRINGS ${text} paths REGEX "(^|[ \"';:=,>])/[a-zA-Z0-9_.-]+/|\\.so[\"'; ]|${WORK}|${BUILD}")
  list(FILTER paths EXCLUDE REGEX "^ *#|_IMPORT_PREFIX}/lib/libforetrace")
  if(paths)
    message(FATAL_ERROR "${text} names a place of this machine: ${paths}")
  endif()
endforeach()

# Who asks for no scheduling needs no solver.
foreach(text ForetraceTargets.cmake ForetraceTargets-${TYPE}.cmake)
  file(STRINGS ${WORK}/prefix/lib/cmake/Foretrace/${text} solver REGEX "[Cc]lp|lapack|gfortran")
  if(solver)
    message(FATAL_ERROR "${text} names the solver: ${solver}")
  endif()
endforeach()

file(GLOB shared RELATIVE ${WORK}/prefix/lib ${WORK}/prefix/lib/*.so*)
if(SHARED AND NOT shared MATCHES "libforetrace\\.so\\.[0-9]" OR NOT SHARED AND shared)
  message(FATAL_ERROR "with BUILD_SHARED_LIBS=${SHARED} there are ${shared}")
endif()

run("configure the consumer" ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build ${SETTINGS} -DCMAKE_PREFIX_PATH=${WORK}/prefix)
run("build the consumer" ${CMAKE_COMMAND} --build ${WORK}/build)
run("run the consumer" ${WORK}/build/consumer)
run("run who uses no scheduling" ${WORK}/build/plain)

# The same by pkg-config, from another place.
function(build_by_pkg_config module source program)
  set(flags "")
  set(ENV{PKG_CONFIG_PATH} ${WORK}/moved/lib/pkgconfig)
  run("pkg-config ${module}" pkg-config --cflags --libs ${module})
  separate_arguments(flags UNIX_COMMAND "${output}")
  run("build by pkg-config" ${COMPILER} -std=c++20 ${SOURCE}/${source} -o ${WORK}/${program} ${flags})
  run("run what pkg-config built" ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${WORK}/moved/lib ${WORK}/${program})
  if(${module} STREQUAL foretrace AND flags MATCHES "Clp|lapack")
    message(FATAL_ERROR "pkg-config foretrace names the solver: ${flags}")
  endif()
endfunction()
find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  build_by_pkg_config(foretrace main.cpp by_pkg_config)
  build_by_pkg_config(foretrace-scheduling scheduling.cpp scheduling_by_pkg_config)
endif()
# Away from the source tree the program must find its own configs.
file(MAKE_DIRECTORY ${WORK}/elsewhere)
run("run the installed program" ${CMAKE_COMMAND} -E chdir ${WORK}/elsewhere ${WORK}/prefix/bin/foretrace list)
if(output STREQUAL "")
  message(FATAL_ERROR "foretrace list prints nothing")
endif()
