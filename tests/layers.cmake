# Fails if a file includes what its folder may not know about: cmake -DROOT=... -P layers.cmake
cmake_minimum_required(VERSION 3.25)

# folder -> folders of ours that it may include
set(layers sim/core sim/graph sim/transform sim/result sim/engine trace models apps/driver apps/commands apps tests examples)
set(sim sim/core sim/graph sim/transform sim/result sim/engine)
set(allow_sim/core sim/core)
set(allow_sim/graph sim/core sim/graph)
set(allow_sim/transform sim/core sim/graph sim/transform)
set(allow_sim/result sim/core sim/graph sim/result)
set(allow_sim/engine sim/core sim/graph sim/result sim/engine)
set(allow_trace sim/core sim/graph trace)
set(allow_models sim/core sim/graph sim/transform sim/engine models)
set(allow_apps/driver ${sim} trace models apps/driver)
set(allow_apps/commands ${sim} trace models apps)
set(allow_apps ${sim} trace models apps)
set(allow_tests ${sim} trace models apps tests)
set(allow_examples ${sim} trace models apps/driver)

# what may appear only in some files: "pattern|where (regular expression)|why"
set(fences
  "nlohmann/json.hpp|^((sim/core|sim/result|models|apps|examples)/.*\\.cpp|tests/.*)$|json is parsed in sources of core, result, models and apps"
  "simdjson.h|^(trace/readers/|tests/)|simdjson belongs to the readers"
  "isa-l|^(trace/|tests/)|compressed bytes belong to trace"
  "zlib.h|^(trace/|tests/|apps/)|compressed bytes belong to trace"
  "cupti.h|^(trace/collector/cupti/|tests/trace/collector/cupti/)|CUPTI stays in the thin part of the collector"
  "boost/graph|^(sim/graph/boost_adaptor.h|tests/)|Boost.Graph stays behind its adaptor"
  "spdlog/|^apps/|only the program logs"
  "CLI/|^(apps/|tests/apps/)|only the program parses arguments"
  "iostream|^(apps/|tests/|examples/)|libraries do not print")

set(bad 0)
macro(complain text)
  message("${text}")
  math(EXPR bad "${bad} + 1")
endmacro()

file(GLOB_RECURSE files RELATIVE ${ROOT}
  ${ROOT}/sim/*.h ${ROOT}/sim/*.cpp ${ROOT}/trace/*.h ${ROOT}/trace/*.cpp ${ROOT}/models/*.h ${ROOT}/models/*.cpp
  ${ROOT}/apps/*.h ${ROOT}/apps/*.cpp ${ROOT}/tests/*.h ${ROOT}/tests/*.cpp ${ROOT}/examples/*.h ${ROOT}/examples/*.cpp)
foreach(file IN LISTS files)
  if(file MATCHES "^tests/(install|compile_fail)/")
    continue()
  endif()
  set(layer "")
  foreach(candidate IN LISTS layers)
    if(NOT layer AND file MATCHES "^${candidate}/")
      set(layer ${candidate})
    endif()
  endforeach()
  if(NOT layer)
    complain("${file}: lies in no layer; the table is in tests/layers.cmake")
    continue()
  endif()
  file(STRINGS ${ROOT}/${file} lines REGEX "^#include ")
  foreach(line IN LISTS lines)
    if(line MATCHES "^#include \"([^\"]+)\"")
      set(included ${CMAKE_MATCH_1})
      set(ok FALSE)
      foreach(folder IN LISTS allow_${layer})
        if(included MATCHES "^${folder}/")
          set(ok TRUE)
        endif()
      endforeach()
      if(NOT ok)
        complain("${file}: includes ${included}, which ${layer} may not use (it may: ${allow_${layer}})")
      endif()
    endif()
    foreach(fence IN LISTS fences)
      string(REGEX MATCH "^([^|]*)\\|(.*)\\|([^|]*)$" fence "${fence}")
      set(where "${CMAKE_MATCH_2}")
      set(why "${CMAKE_MATCH_3}")
      string(FIND "${line}" "<${CMAKE_MATCH_1}" found)
      if(NOT found EQUAL -1 AND NOT file MATCHES "${where}")
        complain("${file}: ${line}, but ${why}")
      endif()
    endforeach()
  endforeach()
  if(file MATCHES "^(sim|trace|models)/")
    file(STRINGS ${ROOT}/${file} lines REGEX "(^|[^a-z_.>])(std::)?(exit|abort|printf|puts|system)\\(")
    foreach(line IN LISTS lines)
      complain("${file}: ${line}, but libraries neither print nor end the program")
    endforeach()
  endif()
endforeach()

list(LENGTH files count)
if(count EQUAL 0)
  message(FATAL_ERROR "no sources found under ${ROOT}")
endif()
if(bad)
  message(FATAL_ERROR "${bad} breaches of the layer order in ${count} files")
endif()
message("${count} files keep the layer order")
