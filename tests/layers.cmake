# Fails if a file includes what its folder may not know about: cmake -DROOT=... -P layers.cmake
cmake_minimum_required(VERSION 3.25)

# Every folder of sources, from the ground up: a folder includes itself and what its row names. A row may name only
# rows above it, so there is no circle and no arrow upwards. "sim/*" stands for sim and every folder below it.
set(table
  "sim/core                      |"
  "sim/graph                     | sim/core"
  "sim/graph/commit              | sim/core sim/graph"
  "sim/edit                      | sim/core sim/graph"
  "sim/result                    | sim/core sim/graph"
  "sim/result/export             | sim/core sim/graph sim/result"
  "sim/engine/release            | sim/core sim/graph sim/result"
  "sim/engine/memory             | sim/core sim/graph sim/result"
  "sim/engine/contention         | sim/core sim/graph sim/result"
  "sim/engine/pull               | sim/core sim/graph sim/result sim/engine/release"
  "sim/engine/event              | sim/core sim/graph sim/graph/commit sim/result sim/engine/release sim/engine/memory sim/engine/contention"
  "sim/engine/path               | sim/core sim/graph sim/result sim/engine/release sim/engine/pull"
  "sim/engine                    | sim/core sim/graph sim/result sim/engine/release sim/engine/memory sim/engine/contention sim/engine/pull sim/engine/event sim/engine/path"

  "trace/io                      | sim/core"
  "trace/table                   | sim/core trace/io"
  "trace/annotate                | sim/core sim/graph trace/table"
  "trace/annotate/collectives    | sim/core sim/graph trace/table trace/annotate"
  "trace/annotate/tensors        | sim/core sim/graph trace/table trace/annotate"
  "trace/graph                   | sim/core sim/graph trace/table trace/annotate/*"
  "trace/nodes/storages          | sim/core sim/graph trace/table trace/annotate/* trace/graph"
  "trace/nodes                   | sim/core sim/graph trace/table trace/annotate/* trace/graph trace/nodes/storages"
  "trace/rules/assembly          | sim/core sim/graph trace/table trace/annotate/* trace/graph"
  "trace/rules/host              | sim/core trace/annotate trace/rules/assembly"
  "trace/rules/device            | sim/core sim/graph trace/rules/assembly"
  "trace/rules/emit              | sim/core sim/graph trace/table trace/annotate/* trace/graph trace/rules/assembly"
  "trace/rules                   | sim/core trace/io trace/table trace/annotate/* trace/graph trace/rules/assembly trace/rules/emit"
  "trace/assemble                | sim/core trace/table trace/graph trace/nodes trace/rules"
  "trace/ftr                     | sim/core trace/io trace/table"
  "trace/collect                 | sim/core trace/io trace/table trace/ftr"
  "trace/collect/cupti           | trace/ftr trace/collect"
  "trace/formats/json            | sim/core trace/io trace/table"
  "trace/formats/common          | sim/core trace/io trace/table trace/formats/json"
  "trace/formats                 | sim/core trace/io trace/table trace/formats/json trace/formats/common"
  "trace/formats/any             | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats"
  "trace/formats/nodes           | sim/core sim/graph trace/io trace/table trace/formats/json trace/formats/common"
  "trace/formats/chrome          | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats"
  "trace/formats/xla             | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats trace/formats/chrome"
  "trace/formats/kineto          | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats trace/formats/chrome trace/formats/xla"
  "trace/formats/chakra          | sim/core sim/graph trace/io trace/table trace/formats/json trace/formats/common trace/formats trace/formats/nodes trace/graph trace/assemble"
  "trace/formats/pytorch_et      | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats trace/formats/nodes"
  "trace/formats/memory          | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats"
  "trace/formats/nsys            | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats"
  "trace/formats/rocprof         | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats"
  "trace/formats/ftr             | sim/core trace/io trace/table trace/ftr trace/collect trace/formats"
  "trace/link                    | sim/core trace/io trace/table trace/annotate"
  "trace/inputs                  | sim/core trace/io trace/table trace/formats/common trace/formats"
  "trace/ranks/matching          | sim/core sim/graph trace/table trace/annotate/*"
  "trace/ranks                   | sim/core sim/graph trace/io trace/table trace/annotate/* trace/graph trace/rules trace/rules/assembly trace/rules/emit trace/inputs trace/ranks/matching"

  "models/execution              | sim/core sim/graph"
  "models/catalogue              | sim/core sim/graph models/execution"
  "models/costs                  | sim/core sim/graph sim/edit models/catalogue"
  "models/costs/calibration      | sim/core models/catalogue models/costs"
  "models/memories               | sim/core sim/graph sim/edit sim/engine/memory models/catalogue"
  "models/editing                | sim/core sim/graph models/catalogue"
  "models/editing/kernels        | sim/core sim/graph sim/edit models/catalogue models/costs models/editing"
  "models/editing/copies         | sim/core sim/graph sim/edit models/catalogue models/editing/kernels"
  "models/editing/transfers      | sim/core sim/graph sim/edit models/costs models/editing/kernels"
  "models/editing/tensors        | sim/core sim/graph sim/edit models/costs models/editing/kernels models/editing/transfers"
  "models/editing/chains         | sim/core sim/graph sim/edit models/catalogue models/costs models/editing/kernels models/editing/tensors"
  "models/policies/eviction      | sim/core sim/graph sim/engine/event models/catalogue models/costs models/editing/kernels models/editing/tensors"
  "models/policies               | sim/core sim/graph sim/engine/event models/catalogue models/editing/copies models/policies/eviction"
  "models/whatifs                | sim/core sim/graph models/editing"
  "models/whatifs/precision      | sim/core sim/graph sim/edit models/whatifs models/editing/* models/costs models/memories"
  "models/whatifs/fusion         | sim/core sim/graph sim/edit models/whatifs models/editing/* models/costs"
  "models/whatifs/memory         | sim/core sim/graph sim/edit models/whatifs models/editing/* models/costs"
  "models/whatifs/schedule       | sim/core sim/graph sim/edit sim/engine/pull models/whatifs models/editing/* models/costs"
  "models/whatifs/sparsity       | sim/core sim/graph sim/edit models/whatifs models/editing/* models/costs"
  "models/whatifs/hardware       | sim/core sim/graph sim/edit models/whatifs models/editing/* models/costs models/memories models/execution"
  "models/networks               | sim/core sim/graph models/catalogue"
  "models/networks/imports       | sim/core sim/graph models/catalogue models/networks"
  "models/collectives            | sim/core sim/graph models/catalogue models/networks"
  "models/schedules              | sim/core"
  "models/whatifs/communication  | sim/core sim/graph sim/edit models/whatifs models/editing/* models/costs models/collectives"
  "models/whatifs/parallelism    | sim/core sim/graph sim/edit models/whatifs models/whatifs/communication models/editing/* models/catalogue models/costs models/networks models/collectives models/schedules"
  "models/workloads              | sim/core sim/graph models/catalogue models/networks"
  "models/workloads/imports      | sim/core sim/graph models/catalogue models/networks models/workloads"
  "models/parallelism            | sim/core sim/graph models/networks models/workloads"
  "models/program                | sim/core sim/graph models/execution models/catalogue models/costs models/networks models/collectives models/workloads models/parallelism models/schedules"
  "models/program/graphs         | sim/core sim/graph models/schedules models/program"
  "models/serving                | sim/core sim/graph models/catalogue models/costs models/networks models/collectives models/workloads models/parallelism models/schedules models/program"
  "models/mapping                | sim/core"
  "models/streams                | sim/core models/catalogue models/networks"
  "models/storage                | sim/core"
  "models/federated              | sim/core"

  "apps/driver/steps             | sim/* trace/* models/*"
  "apps/driver/requests          | sim/* trace/* models/*"
  "apps/driver/memory            | sim/* trace/* models/*"
  "apps/driver                   | sim/* trace/* models/* apps/driver/steps apps/driver/requests apps/driver/memory"
  "apps/driver/compare           | sim/* models/catalogue apps/driver apps/driver/steps apps/driver/requests apps/driver/memory"
  "apps/driver/answers           | sim/* trace/* models/* apps/driver apps/driver/steps apps/driver/requests apps/driver/memory"
  "apps/driver/scenario          | sim/* models/* apps/driver apps/driver/steps apps/driver/requests apps/driver/memory"
  "apps/driver/node_job          | sim/* trace/graph trace/nodes trace/inputs trace/ranks models/* apps/driver apps/driver/steps apps/driver/requests apps/driver/memory apps/driver/scenario"
  "apps/driver/plan              | sim/* models/* apps/driver apps/driver/steps apps/driver/requests apps/driver/memory apps/driver/scenario"
  "apps/driver/export            | sim/core sim/graph models/* trace/formats/chakra apps/driver/scenario"
  "apps/driver/predictor         | sim/core sim/graph sim/result sim/engine/release sim/engine/pull models/catalogue models/program apps/driver apps/driver/steps apps/driver/requests apps/driver/memory apps/driver/scenario"
  "apps/driver/sweep/space       | sim/core sim/graph trace/inputs models/catalogue models/program apps/driver apps/driver/steps apps/driver/requests apps/driver/memory apps/driver/scenario"
  "apps/driver/sweep/methods     | sim/core sim/graph trace/inputs models/catalogue models/program apps/driver apps/driver/sweep/space"
  "apps/driver/sweep/points      | sim/core models/catalogue models/program trace/inputs apps/driver apps/driver/steps apps/driver/requests apps/driver/scenario apps/driver/plan apps/driver/sweep/space"
  "apps/driver/sweep/store       | sim/core apps/driver/sweep/space apps/driver/sweep/points"
  "apps/driver/sweep             | sim/core sim/graph trace/inputs models/catalogue models/program apps/driver apps/driver/steps apps/driver/requests apps/driver/memory apps/driver/sweep/space apps/driver/sweep/points apps/driver/sweep/store apps/driver/sweep/methods"
  "apps/driver/scheduler/model   | sim/core"
  "apps/driver/scheduler/solver  | sim/core"
  "apps/driver/scheduler/placements | sim/core apps/driver/scheduler/model"
  "apps/driver/scheduler/policies   | sim/core apps/driver/scheduler/model apps/driver/scheduler/solver"
  "apps/driver/scheduler/simulation | sim/core apps/driver/scheduler/model apps/driver/scheduler/placements apps/driver/scheduler/policies"
  "apps/driver/scheduler/sources | sim/core models/catalogue apps/driver/scheduler/model"
  "apps/driver/scheduler         | sim/core apps/driver apps/driver/steps apps/driver/requests apps/driver/memory apps/driver/scheduler/model apps/driver/scheduler/placements apps/driver/scheduler/policies apps/driver/scheduler/simulation apps/driver/scheduler/sources"
  "apps/driver/serving           | sim/core sim/graph models/* apps/driver apps/driver/scenario apps/driver/scheduler/model apps/driver/scheduler/policies apps/driver/scheduler/simulation apps/driver/scheduler/sources"
  "apps/driver/training          | sim/core models/* apps/driver apps/driver/scenario apps/driver/predictor apps/driver/steps"
  "apps/driver/substitution      | sim/* trace/* models/* apps/driver apps/driver/steps apps/driver/requests"
  "apps/driver/fleet             | sim/core models/networks models/storage models/federated apps/driver/scheduler/sources"
  "apps/driver/mapping           | sim/core models/catalogue models/costs models/networks models/mapping apps/driver/serving"
  "apps/driver/validate          | sim/* trace/* models/* apps/driver apps/driver/steps apps/driver/requests apps/driver/memory apps/driver/answers apps/driver/scenario"
  "apps/report                   | sim/* trace/* models/* apps/driver/*"
  "apps/report/svg               | sim/* trace/annotate apps/report"
  "apps/report/sections          | sim/* trace/* models/* apps/driver/* apps/report"
  "apps/report/sections/recording | sim/* trace/* models/* apps/driver/* apps/report apps/report/sections"
  "apps/report/sections/memory    | sim/* trace/* models/* apps/driver/* apps/report apps/report/sections"
  "apps/report/sections/what_if   | sim/* trace/* models/* apps/driver/* apps/report apps/report/sections"
  "apps/report/sections/cluster   | sim/* trace/* models/* apps/driver/* apps/report apps/report/sections"
  "apps/report/sections/validation | sim/* trace/* models/* apps/driver/* apps/report apps/report/sections"
  "apps/report/pages             | sim/core apps/report"
  "apps/report/schedule          | sim/core apps/driver/scheduler apps/driver/scheduler/* apps/report apps/report/svg"
  "apps/report/sweep             | sim/core apps/driver/sweep apps/driver/sweep/* apps/report apps/report/svg"
  "apps/python                   | sim/* trace/* models/* apps/driver/* apps/report/*"
  "apps/serve                    | sim/core"
  "apps/explorer/engine          | sim/core sim/graph sim/result sim/result/export sim/engine sim/engine/memory sim/engine/pull apps/driver/steps"
  "apps/explorer                 | sim/* models/catalogue models/whatifs apps/driver apps/driver/steps apps/driver/requests apps/driver/memory apps/driver/answers apps/driver/compare apps/driver/scenario apps/driver/plan apps/driver/sweep apps/driver/sweep/* apps/report apps/report/sections apps/serve"
  "apps/cli/arguments            | sim/* trace/* models/* apps/driver/* apps/report/*"
  "apps/cli/names                | sim/* trace/* models/* apps/driver/* apps/report/* apps/cli/arguments"
  "apps/cli/output               | sim/* trace/* models/* apps/driver/* apps/report/* apps/cli/arguments"
  "apps/cli                      | sim/* trace/* models/* apps/driver/* apps/report/* apps/serve apps/explorer apps/cli/arguments apps/cli/names apps/cli/output"
  "apps/cli/commands             | sim/* trace/* models/* apps/driver/* apps/report/* apps/serve apps/explorer apps/cli apps/cli/arguments apps/cli/names apps/cli/output"
  "tests/validation/studies      | sim/core apps/driver/scheduler apps/driver/scheduler/*"
  "tests/validation/tables       | sim/* models/* apps/driver apps/driver/steps apps/driver/requests apps/driver/memory apps/driver/scenario apps/driver/predictor apps/driver/training apps/driver/scheduler/* apps/driver/serving tests/validation/studies"
  "tests/validation/maps         | sim/core models/networks models/collectives models/workloads models/program apps/driver/scenario tests/validation/studies tests/validation/tables"
  "tests/validation/claims       | sim/* models/catalogue models/whatifs apps/driver apps/driver/steps apps/driver/requests apps/driver/memory apps/driver/answers apps/driver/scenario"
  "tests/validation/report       | sim/core apps/report tests/validation/tables tests/validation/claims"
  "tests/validation              | sim/core apps/driver/validate apps/report apps/cli apps/cli/arguments apps/cli/names apps/cli/output tests/validation/tables tests/validation/maps tests/validation/report"
  "tests                         | sim/* trace/* models/* apps/* tests/*"
  "examples                      | sim/* trace/* models/* apps/driver/*")

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
  "coin/|^apps/driver/scheduler/solver/|linear programs are solved behind one header"
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
    if(NOT folder IN_LIST rooms AND NOT folder MATCHES "^(sim|trace|models|apps|tests|apps/driver|models/editing)$")
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
