# Makes the demo traces anew and compares them with those in the tree, uncompressed:
# cmake -DPYTHON=... -DROOT=... -DWORK=... -P demo_trace.cmake
cmake_minimum_required(VERSION 3.25)

file(MAKE_DIRECTORY ${WORK})
set(folder ${ROOT}/examples/traces)
foreach(name demo_generated_cnn demo_generated_cnn_memory)
  set(option "")
  if(name MATCHES "memory")
    set(option --memory)
  endif()
  execute_process(COMMAND ${PYTHON} ${folder}/make_demo_trace.py ${option} ${WORK}/made.json COMMAND_ERROR_IS_FATAL ANY)
  # The compressed bytes depend on the version of zlib, the text does not.
  execute_process(COMMAND ${PYTHON} -c "import gzip,sys; sys.stdout.buffer.write(gzip.open(sys.argv[1]).read())"
    ${folder}/${name}.json.gz OUTPUT_FILE ${WORK}/kept.json COMMAND_ERROR_IS_FATAL ANY)
  file(SHA256 ${WORK}/made.json made)
  file(SHA256 ${WORK}/kept.json kept)
  if(NOT made STREQUAL kept)
    message(FATAL_ERROR "examples/traces/${name}.json.gz is not what make_demo_trace.py makes: run it again")
  endif()
endforeach()
