# Fails if a file includes what its folder may not know about: cmake -DROOT=... -P layers.cmake
cmake_minimum_required(VERSION 3.25)

# Every folder of sources, from the ground up: a folder includes itself and what its row names. A row may name only
# rows above it, so there is no circle and no arrow upwards. "sim/*" stands for sim and every folder below it.
set(table
  "sim/core                          | "
  "sim/graph                         | sim/core"
  "sim/graph/commit                  | sim/core sim/graph"
  "sim/edit                          | sim/core sim/graph"
  "sim/result                        | sim/core sim/graph"
  "sim/result/steps                  | sim/core sim/graph sim/result"
  "sim/result/export                 | sim/core sim/graph sim/result"
  "sim/engine/release                | sim/core sim/graph sim/result"
  "sim/engine/memory                 | sim/core sim/graph sim/result"
  "sim/engine/contention             | sim/core sim/graph"
  "sim/engine/pull                   | sim/core sim/graph sim/result sim/engine/release"
  "sim/engine/event                  | sim/core sim/graph sim/graph/commit sim/result sim/engine/release sim/engine/memory sim/engine/contention"
  "sim/engine/chains                 | sim/graph sim/result sim/result/steps sim/engine/release"
  "sim/engine/path                   | sim/core sim/graph sim/result sim/engine/release sim/engine/pull"
  "sim/engine                        | sim/graph"
  "trace/io                          | sim/core"
  "trace/table                       | sim/core trace/io"
  "trace/annotate                    | sim/core sim/graph trace/table"
  "trace/annotate/collectives        | sim/core sim/graph trace/table trace/annotate"
  "trace/annotate/tensors            | sim/core sim/graph trace/table trace/annotate"
  "trace/graph                       | sim/graph trace/table trace/annotate/tensors"
  "trace/nodes/storages              | sim/core sim/graph trace/table trace/annotate trace/annotate/tensors trace/graph"
  "trace/nodes                       | sim/core sim/graph trace/table trace/annotate/collectives trace/graph trace/nodes/storages"
  "trace/rules/assembly              | sim/graph trace/table trace/annotate trace/graph"
  "trace/rules/host                  | sim/core trace/annotate trace/rules/assembly"
  "trace/rules/device                | sim/core sim/graph trace/rules/assembly"
  "trace/rules/emit                  | sim/core sim/graph trace/table trace/annotate/tensors trace/graph trace/rules/assembly"
  "trace/rules                       | sim/core trace/io trace/table trace/annotate trace/annotate/collectives trace/graph trace/rules/assembly trace/rules/emit"
  "trace/assemble                    | sim/core trace/table trace/graph trace/nodes trace/rules"
  "trace/ftr                         | sim/core trace/io trace/table"
  "trace/collect                     | sim/core trace/io trace/table trace/ftr"
  "trace/collect/cupti               | trace/collect"
  "trace/formats/json                | sim/core trace/io trace/table"
  "trace/formats/common              | sim/core trace/io trace/table trace/formats/json"
  "trace/formats                     | sim/core trace/io trace/table trace/formats/json trace/formats/common"
  "trace/formats/any             | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats"
  "trace/formats/nodes               | sim/core sim/graph trace/io trace/table trace/formats/json"
  "trace/formats/chrome              | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats"
  "trace/formats/xla                 | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats trace/formats/chrome"
  "trace/formats/kineto              | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats trace/formats/chrome trace/formats/xla"
  "trace/formats/chakra              | sim/graph trace/io trace/table trace/assemble trace/formats/json trace/formats/common trace/formats trace/formats/nodes"
  "trace/formats/pytorch_et          | trace/io trace/formats/json trace/formats/common trace/formats trace/formats/nodes"
  "trace/formats/memory              | sim/core trace/io trace/formats/json trace/formats/common trace/formats"
  "trace/formats/nsys                | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats"
  "trace/formats/rocprof             | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats"
  "trace/formats/ftr                 | sim/core trace/io trace/ftr trace/collect trace/formats"
  "trace/link                        | sim/core trace/io trace/table trace/annotate"
  "trace/inputs                      | sim/core trace/io trace/table trace/formats/common trace/formats"
  "trace/ranks/matching              | sim/core sim/graph trace/table trace/annotate/collectives"
  "trace/ranks                       | sim/core trace/io trace/table trace/annotate trace/annotate/collectives trace/graph trace/rules/assembly trace/rules/emit trace/rules trace/inputs trace/ranks/matching"
  "apps/cli | sim/* trace/* models/* apps/* tests/*"
  "apps/cli/arguments | sim/* trace/* models/* apps/* tests/*"
  "apps/cli/commands | sim/* trace/* models/* apps/* tests/*"
  "apps/cli/names | sim/* trace/* models/* apps/* tests/*"
  "apps/cli/output | sim/* trace/* models/* apps/* tests/*"
  "apps/driver | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/answers | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/compare | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/export | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/fleet | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/mapping | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/memory | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/node_job | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/plan | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/predictor | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/requests | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/scenario | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/scheduler | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/scheduler/model | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/scheduler/placements | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/scheduler/policies | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/scheduler/simulation | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/scheduler/solver | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/scheduler/sources | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/serving | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/steps | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/substitution | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/sweep | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/sweep/methods | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/sweep/points | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/sweep/space | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/sweep/store | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/training | sim/* trace/* models/* apps/* tests/*"
  "apps/driver/validate | sim/* trace/* models/* apps/* tests/*"
  "apps/explorer | sim/* trace/* models/* apps/* tests/*"
  "apps/extras | sim/* trace/* models/* apps/* tests/*"
  "apps/extras/federated | sim/* trace/* models/* apps/* tests/*"
  "apps/extras/frames | sim/* trace/* models/* apps/* tests/*"
  "apps/extras/mapping | sim/* trace/* models/* apps/* tests/*"
  "apps/extras/storage | sim/* trace/* models/* apps/* tests/*"
  "apps/plans | sim/* trace/* models/* apps/* tests/*"
  "apps/predictor | sim/* trace/* models/* apps/* tests/*"
  "apps/python | sim/* trace/* models/* apps/* tests/*"
  "apps/questions/compare | sim/* trace/* models/* apps/* tests/*"
  "apps/questions/memory | sim/* trace/* models/* apps/* tests/*"
  "apps/questions/search | sim/* trace/* models/* apps/* tests/*"
  "apps/questions/sharing | sim/* trace/* models/* apps/* tests/*"
  "apps/questions/substitution | sim/* trace/* models/* apps/* tests/*"
  "apps/questions/validate | sim/* trace/* models/* apps/* tests/*"
  "apps/report | sim/* trace/* models/* apps/* tests/*"
  "apps/report/pages | sim/* trace/* models/* apps/* tests/*"
  "apps/report/schedule | sim/* trace/* models/* apps/* tests/*"
  "apps/report/sections | sim/* trace/* models/* apps/* tests/*"
  "apps/report/sections/cluster | sim/* trace/* models/* apps/* tests/*"
  "apps/report/sections/memory | sim/* trace/* models/* apps/* tests/*"
  "apps/report/sections/recording | sim/* trace/* models/* apps/* tests/*"
  "apps/report/sections/validation | sim/* trace/* models/* apps/* tests/*"
  "apps/report/sections/what_if | sim/* trace/* models/* apps/* tests/*"
  "apps/report/svg | sim/* trace/* models/* apps/* tests/*"
  "apps/report/sweep | sim/* trace/* models/* apps/* tests/*"
  "apps/scheduling | sim/* trace/* models/* apps/* tests/*"
  "apps/scheduling/model | sim/* trace/* models/* apps/* tests/*"
  "apps/scheduling/placements | sim/* trace/* models/* apps/* tests/*"
  "apps/scheduling/policies | sim/* trace/* models/* apps/* tests/*"
  "apps/scheduling/simulation | sim/* trace/* models/* apps/* tests/*"
  "apps/scheduling/solver | sim/* trace/* models/* apps/* tests/*"
  "apps/scheduling/sources | sim/* trace/* models/* apps/* tests/*"
  "apps/serve | sim/* trace/* models/* apps/* tests/*"
  "apps/serving | sim/* trace/* models/* apps/* tests/*"
  "apps/session | sim/* trace/* models/* apps/* tests/*"
  "apps/session/memory | sim/* trace/* models/* apps/* tests/*"
  "apps/session/nodes | sim/* trace/* models/* apps/* tests/*"
  "apps/session/recording | sim/* trace/* models/* apps/* tests/*"
  "apps/session/scenario | sim/* trace/* models/* apps/* tests/*"
  "apps/sweep | sim/* trace/* models/* apps/* tests/*"
  "apps/sweep/methods | sim/* trace/* models/* apps/* tests/*"
  "apps/sweep/points | sim/* trace/* models/* apps/* tests/*"
  "apps/sweep/space | sim/* trace/* models/* apps/* tests/*"
  "apps/sweep/store | sim/* trace/* models/* apps/* tests/*"
  "apps/web | sim/* trace/* models/* apps/* tests/*"
  "models/catalogue | sim/* trace/* models/* apps/* tests/*"
  "models/collectives | sim/* trace/* models/* apps/* tests/*"
  "models/costs | sim/* trace/* models/* apps/* tests/*"
  "models/costs/calibration | sim/* trace/* models/* apps/* tests/*"
  "models/editing | sim/* trace/* models/* apps/* tests/*"
  "models/editing/batches | sim/* trace/* models/* apps/* tests/*"
  "models/editing/chains | sim/* trace/* models/* apps/* tests/*"
  "models/editing/copies | sim/* trace/* models/* apps/* tests/*"
  "models/editing/kernels | sim/* trace/* models/* apps/* tests/*"
  "models/editing/tensors | sim/* trace/* models/* apps/* tests/*"
  "models/editing/transfers | sim/* trace/* models/* apps/* tests/*"
  "models/execution | sim/* trace/* models/* apps/* tests/*"
  "models/federated | sim/* trace/* models/* apps/* tests/*"
  "models/hardware/catalogue | sim/* trace/* models/* apps/* tests/*"
  "models/hardware/collectives | sim/* trace/* models/* apps/* tests/*"
  "models/hardware/costs | sim/* trace/* models/* apps/* tests/*"
  "models/hardware/costs/calibration | sim/* trace/* models/* apps/* tests/*"
  "models/hardware/execution | sim/* trace/* models/* apps/* tests/*"
  "models/hardware/kernels | sim/* trace/* models/* apps/* tests/*"
  "models/hardware/memories | sim/* trace/* models/* apps/* tests/*"
  "models/hardware/networks | sim/* trace/* models/* apps/* tests/*"
  "models/hardware/networks/imports | sim/* trace/* models/* apps/* tests/*"
  "models/hardware/power | sim/* trace/* models/* apps/* tests/*"
  "models/jobs/figures | sim/* trace/* models/* apps/* tests/*"
  "models/jobs/imports | sim/* trace/* models/* apps/* tests/*"
  "models/jobs/parallelism | sim/* trace/* models/* apps/* tests/*"
  "models/jobs/program | sim/* trace/* models/* apps/* tests/*"
  "models/jobs/program/graphs | sim/* trace/* models/* apps/* tests/*"
  "models/jobs/scenario | sim/* trace/* models/* apps/* tests/*"
  "models/jobs/schedules | sim/* trace/* models/* apps/* tests/*"
  "models/jobs/times | sim/* trace/* models/* apps/* tests/*"
  "models/jobs/workloads | sim/* trace/* models/* apps/* tests/*"
  "models/mapping | sim/* trace/* models/* apps/* tests/*"
  "models/memories | sim/* trace/* models/* apps/* tests/*"
  "models/networks | sim/* trace/* models/* apps/* tests/*"
  "models/networks/imports | sim/* trace/* models/* apps/* tests/*"
  "models/parallelism | sim/* trace/* models/* apps/* tests/*"
  "models/policies | sim/* trace/* models/* apps/* tests/*"
  "models/policies/eviction | sim/* trace/* models/* apps/* tests/*"
  "models/program | sim/* trace/* models/* apps/* tests/*"
  "models/program/graphs | sim/* trace/* models/* apps/* tests/*"
  "models/schedules | sim/* trace/* models/* apps/* tests/*"
  "models/serving | sim/* trace/* models/* apps/* tests/*"
  "models/storage | sim/* trace/* models/* apps/* tests/*"
  "models/streams | sim/* trace/* models/* apps/* tests/*"
  "models/whatifs | sim/* trace/* models/* apps/* tests/*"
  "models/whatifs/communication | sim/* trace/* models/* apps/* tests/*"
  "models/whatifs/fusion | sim/* trace/* models/* apps/* tests/*"
  "models/whatifs/hardware | sim/* trace/* models/* apps/* tests/*"
  "models/whatifs/memory | sim/* trace/* models/* apps/* tests/*"
  "models/whatifs/parallelism | sim/* trace/* models/* apps/* tests/*"
  "models/whatifs/precision | sim/* trace/* models/* apps/* tests/*"
  "models/whatifs/schedule | sim/* trace/* models/* apps/* tests/*"
  "models/whatifs/sparsity | sim/* trace/* models/* apps/* tests/*"
  "models/workloads | sim/* trace/* models/* apps/* tests/*"
  "models/workloads/imports | sim/* trace/* models/* apps/* tests/*"
  "tests                             | sim/* trace/* models/* apps/* tests/*"
  "examples                          | sim/* trace/* models/* apps/*")

# what may appear only in some files: "pattern|where (regular expression)|why"
set(fences
  "nlohmann/json.hpp|^((sim/core|sim/result|models|apps|examples)/.*\\.cpp|tests/.*)$|json is parsed in sources of core, result, models and apps"
  "simdjson.h|^(trace/|tests/)|simdjson belongs to trace"
  "isa-l|^(trace/|tests/)|compressed bytes belong to trace"
  "zlib.h|^(trace/|tests/|apps/)|compressed bytes belong to trace"
  "cupti.h|^(trace/collect/cupti/|tests/trace/collect/cupti/)|CUPTI stays in the thin part of the collector"
  "boost/graph|^(sim/graph/boost_adaptor.h|tests/)|Boost.Graph stays behind its adaptor"
  "spdlog/|^apps/|only the program logs"
  "CLI/|^apps/cli/(arguments/(arguments|defaults|help|man_page)|names/completion|command_line)\\.cpp$|it takes seconds to compile: commands use apps/cli/arguments/arguments.h"
  "coin/|^apps/scheduling/solver/|linear programs are solved behind one header"
  "iostream|^(apps/|tests/|examples/)|libraries do not print")

set(bad 0)
macro(complain text)
  message("${text}")
  math(EXPR bad "${bad} + 1")
endmacro()

set(rooms "")
foreach(row IN LISTS table)
  string(REGEX MATCH "^([a-z_/]+) *\\|(.*)$" row "${row}")
  set(room ${CMAKE_MATCH_1})
  string(REGEX MATCHALL "[^ ]+" allowed "${CMAKE_MATCH_2}")
  foreach(name IN LISTS allowed)
    string(REGEX REPLACE "/\\*$" "" folder ${name})
    if(NOT folder IN_LIST rooms AND NOT folder MATCHES "^(sim|trace|models|apps|tests)$")
      complain("tests/layers.cmake: the row of ${room} names ${name}, which stands in no row above it")
    endif()
  endforeach()
  list(APPEND rooms ${room})
  set(allow_${room} ${room} ${allowed})
endforeach()

file(GLOB_RECURSE files RELATIVE ${ROOT}
  ${ROOT}/sim/*.h ${ROOT}/sim/*.cpp ${ROOT}/trace/*.h ${ROOT}/trace/*.cpp ${ROOT}/models/*.h ${ROOT}/models/*.cpp
  ${ROOT}/apps/*.h ${ROOT}/apps/*.cpp ${ROOT}/tests/*.h ${ROOT}/tests/*.cpp ${ROOT}/examples/*.h ${ROOT}/examples/*.cpp)
foreach(file IN LISTS files)
  if(file MATCHES "^tests/(install|compile_fail|stranger)/")
    continue()
  endif()
  get_filename_component(layer ${file} DIRECTORY)
  # foretrace-validate is a program that lies beside its tests: its folders are rooms, its tests are tests.
  if(layer MATCHES "^(tests|examples)(/|$)" AND (NOT layer MATCHES "^tests/validation(/|$)" OR file MATCHES "_test\\.cpp$|/support/"))
    set(layer ${CMAKE_MATCH_1})
  endif()
  # A family without a row of its own has that of any family.
  get_filename_component(parent ${layer} DIRECTORY)
  if(NOT layer IN_LIST rooms AND "${parent}/any" IN_LIST rooms)
    set(allow_${layer} ${layer} ${allow_${parent}/any})
  elseif(NOT layer IN_LIST rooms)
    complain("${file}: ${layer} is no room; the table is in tests/layers.cmake")
    continue()
  endif()
  if(layer MATCHES "(^|/)detail$")
    complain("${file}: a helper lives beside the family that uses it, not in a drawer")
  endif()
  file(STRINGS ${ROOT}/${file} lines REGEX "^namespace ([a-z_]+::)*detail([ :]|$)")
  if(lines)
    complain("${file}: ${lines}: a namespace has the name of what is in it")
  endif()
  file(STRINGS ${ROOT}/${file} lines REGEX "^#include ")
  foreach(line IN LISTS lines)
    if(line MATCHES "^#include \"([^\"]+)\"")
      set(included ${CMAKE_MATCH_1})
      set(ok FALSE)
      get_filename_component(from ${included} DIRECTORY)
      foreach(folder IN LISTS allow_${layer})
        if(folder MATCHES "^(.*)/\\*$")
          set(parent ${CMAKE_MATCH_1})
          if(from STREQUAL parent OR from MATCHES "^${parent}/")
            set(ok TRUE)
          endif()
        elseif(from STREQUAL folder)
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
  if(file MATCHES "^(models|apps|examples)/")
    set(parts "removed|stand_ins|inserted|new_dependencies|new_waits|removed_dependencies|moved|reordered|new_lanes")
    file(STRINGS ${ROOT}/${file} lines REGEX
      "([.]|->)(${parts})([.](push_back|emplace_back|insert|assign|append|clear|resize)| = )")
    foreach(line IN LISTS lines)
      complain("${file}: ${line}, but only the Editor of sim/edit changes who is there and who waits for whom")
    endforeach()
  endif()
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
