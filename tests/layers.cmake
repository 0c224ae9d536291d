# Fails if a file includes what its folder may not know about: cmake -DROOT=... -P layers.cmake
cmake_minimum_required(VERSION 3.25)

# Every folder of sources, from the ground up: a folder includes itself and what its row names. A row may name only
# rows above it, so there is no circle and no arrow upwards. "sim/*" stands for sim and every folder below it.
set(table
  "sim/core                          |"
  "sim/graph                         | sim/core"
  "sim/graph/commit                  | sim/core sim/graph"
  "sim/edit                          | sim/core sim/graph"
  "sim/result                        | sim/core sim/graph"
  "sim/result/steps                  | sim/core sim/graph sim/result"
  "sim/result/export                 | sim/core sim/graph sim/result"
  "sim/engine/release                | sim/core sim/graph sim/result"
  "sim/engine/memory                 | sim/core sim/graph sim/result"
  "sim/engine/contention             | sim/core sim/graph sim/result"
  "sim/engine/pull                   | sim/core sim/graph sim/result sim/engine/release"
  "sim/engine/event                  | sim/core sim/graph sim/graph/commit sim/result sim/engine/release sim/engine/memory sim/engine/contention"
  "sim/engine/chains                 | sim/graph sim/result sim/result/steps sim/engine/release"
  "sim/engine/path                   | sim/core sim/graph sim/result sim/engine/release sim/engine/pull"
  "sim/engine                        | sim/core sim/graph sim/result sim/engine/release sim/engine/memory sim/engine/contention sim/engine/pull sim/engine/event sim/engine/path"

  "trace/io                          | sim/core"
  "trace/table                       | sim/core trace/io"
  "trace/annotate                    | sim/core sim/graph trace/table"
  "trace/annotate/collectives        | sim/core sim/graph trace/table trace/annotate"
  "trace/annotate/tensors            | sim/core sim/graph trace/table trace/annotate"
  "trace/graph                       | sim/core sim/graph trace/table trace/annotate trace/annotate/collectives trace/annotate/tensors"
  "trace/nodes/storages              | sim/core sim/graph trace/table trace/annotate trace/annotate/collectives trace/annotate/tensors trace/graph"
  "trace/nodes                       | sim/core sim/graph trace/table trace/annotate trace/annotate/collectives trace/annotate/tensors trace/graph trace/nodes/storages"
  "trace/rules/assembly              | sim/core sim/graph trace/table trace/annotate trace/annotate/collectives trace/annotate/tensors trace/graph"
  "trace/rules/host                  | sim/core trace/annotate trace/rules/assembly"
  "trace/rules/device                | sim/core sim/graph trace/rules/assembly"
  "trace/rules/emit                  | sim/core sim/graph trace/table trace/annotate trace/annotate/collectives trace/annotate/tensors trace/graph trace/rules/assembly"
  "trace/rules                       | sim/core trace/io trace/table trace/annotate trace/annotate/collectives trace/annotate/tensors trace/graph trace/rules/assembly trace/rules/emit"
  "trace/assemble                    | sim/core trace/table trace/graph trace/nodes trace/rules"
  "trace/ftr                         | sim/core trace/io trace/table"
  "trace/collect                     | sim/core trace/io trace/table trace/ftr"
  "trace/collect/cupti               | trace/ftr trace/collect"
  "trace/formats/json                | sim/core trace/io trace/table"
  "trace/formats/common              | sim/core trace/io trace/table trace/formats/json"
  "trace/formats                     | sim/core trace/io trace/table trace/formats/json trace/formats/common"
  "trace/formats/any                 | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats"
  "trace/formats/nodes               | sim/core sim/graph trace/io trace/table trace/formats/json trace/formats/common"
  "trace/formats/chrome              | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats"
  "trace/formats/xla                 | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats trace/formats/chrome"
  "trace/formats/kineto              | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats trace/formats/chrome trace/formats/xla"
  "trace/formats/chakra              | sim/core sim/graph trace/io trace/table trace/graph trace/assemble trace/formats/json trace/formats/common trace/formats trace/formats/nodes"
  "trace/formats/pytorch_et          | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats trace/formats/nodes"
  "trace/formats/memory              | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats"
  "trace/formats/nsys                | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats"
  "trace/formats/rocprof             | sim/core trace/io trace/table trace/formats/json trace/formats/common trace/formats"
  "trace/formats/ftr                 | sim/core trace/io trace/table trace/ftr trace/collect trace/formats"
  "trace/link                        | sim/core trace/io trace/table trace/annotate"
  "trace/inputs                      | sim/core trace/io trace/table trace/formats/common trace/formats"
  "trace/ranks/matching              | sim/core sim/graph trace/table trace/annotate trace/annotate/collectives trace/annotate/tensors"
  "trace/ranks                       | sim/core sim/graph trace/io trace/table trace/annotate trace/annotate/collectives trace/annotate/tensors trace/graph trace/rules/assembly trace/rules/emit trace/rules trace/inputs trace/ranks/matching"

  "models/hardware/execution         | sim/core sim/graph"
  "models/hardware/kernels           | sim/core sim/graph"
  "models/hardware/catalogue         | sim/core sim/graph models/hardware/execution"
  "models/hardware/costs             | sim/core sim/graph sim/edit models/hardware/kernels models/hardware/catalogue"
  "models/hardware/costs/calibration | sim/core sim/graph models/hardware/kernels models/hardware/catalogue models/hardware/costs"
  "models/hardware/power             | sim/core sim/graph models/hardware/catalogue"
  "models/hardware/memories          | sim/core sim/graph sim/engine/memory"
  "models/hardware/networks          | sim/core sim/graph models/hardware/catalogue"
  "models/hardware/networks/imports  | sim/core models/hardware/networks"
  "models/hardware/collectives       | sim/core sim/graph models/hardware/networks"
  "models/hardware/collectives/calibration | sim/core sim/graph models/hardware/catalogue models/hardware/costs/calibration models/hardware/networks models/hardware/collectives"
  "models/jobs/workloads             | sim/core sim/graph models/hardware/catalogue"
  "models/jobs/schedules             | sim/core"
  "models/jobs/parallelism           | sim/core models/hardware/networks models/jobs/workloads"
  "models/jobs/times                 | sim/core sim/graph models/hardware/execution models/hardware/kernels models/hardware/catalogue models/hardware/costs models/hardware/networks models/hardware/collectives models/jobs/workloads"
  "models/jobs/program               | sim/core models/hardware/kernels models/hardware/costs models/hardware/power models/hardware/networks models/hardware/collectives models/jobs/workloads models/jobs/schedules models/jobs/parallelism models/jobs/times"
  "models/jobs/program/graphs        | sim/core sim/graph models/hardware/collectives models/jobs/schedules models/jobs/program"
  "models/jobs/imports               | sim/core models/hardware/catalogue models/jobs/workloads models/jobs/times models/jobs/program"
  "models/jobs/scenario              | sim/core models/hardware/execution models/hardware/catalogue models/hardware/networks models/jobs/workloads models/jobs/schedules models/jobs/parallelism models/jobs/times models/jobs/program models/jobs/program/graphs models/jobs/imports"
  "models/jobs/figures               | sim/core sim/graph sim/result sim/engine/pull sim/engine/event models/hardware/execution models/hardware/catalogue models/jobs/times models/jobs/program models/jobs/program/graphs models/jobs/scenario"
  "models/editing                    | sim/graph models/hardware/catalogue"
  "models/editing/kernels            | sim/core sim/graph sim/edit models/hardware/catalogue models/hardware/costs models/editing"
  "models/editing/copies             | sim/core sim/graph models/hardware/catalogue models/editing/kernels"
  "models/editing/transfers          | sim/core sim/graph sim/edit"
  "models/editing/tensors            | sim/core sim/graph sim/edit models/hardware/costs models/editing/kernels"
  "models/editing/parameters         | sim/core sim/graph sim/edit models/hardware/kernels models/editing/kernels models/editing/transfers models/editing/tensors"
  "models/editing/chains             | sim/core sim/graph sim/edit models/hardware/kernels models/hardware/catalogue models/editing/kernels models/editing/tensors"
  "models/jobs/recordings            | sim/core sim/graph sim/edit models/hardware/collectives models/jobs/workloads models/jobs/schedules models/jobs/parallelism models/jobs/program models/jobs/program/graphs models/editing/kernels models/editing/tensors models/editing/parameters"
  "models/editing/batches            | sim/core sim/graph sim/edit sim/engine/pull models/editing/kernels models/editing/transfers models/editing/tensors"
  "models/policies/eviction          | sim/core sim/graph sim/engine/event models/hardware/catalogue models/hardware/costs models/editing/kernels models/editing/tensors"
  "models/policies                   | models/editing/copies models/policies/eviction"
  "models/whatifs                    | sim/core sim/graph sim/edit models/hardware/catalogue models/editing"
  "models/whatifs/edits              | sim/core sim/graph sim/edit models/whatifs"
  "models/whatifs/precision          | sim/core sim/graph sim/edit models/hardware/costs models/editing/kernels models/editing/transfers models/editing/tensors models/editing/parameters models/whatifs"
  "models/whatifs/fusion             | sim/core sim/graph sim/edit models/hardware/costs models/editing/kernels models/editing/tensors models/editing/chains models/whatifs"
  "models/whatifs/memory             | sim/core sim/graph sim/edit models/hardware/costs models/editing/kernels models/editing/copies models/editing/tensors models/editing/parameters models/editing/chains models/whatifs"
  "models/whatifs/schedule           | sim/core sim/graph sim/edit sim/engine/pull models/editing/kernels models/editing/copies models/editing/transfers models/editing/tensors models/editing/parameters models/editing/chains models/editing/batches models/whatifs"
  "models/whatifs/sparsity           | sim/core sim/edit models/hardware/costs models/editing/kernels models/editing/transfers models/editing/tensors models/editing/parameters models/whatifs"
  "models/whatifs/hardware           | sim/core sim/graph sim/edit models/hardware/execution models/hardware/catalogue models/hardware/costs models/editing models/editing/kernels models/whatifs"
  "models/whatifs/communication      | sim/core sim/graph sim/edit models/hardware/collectives models/editing/kernels models/editing/transfers models/editing/tensors models/editing/parameters models/whatifs"
  "models/whatifs/parallelism        | sim/core sim/graph sim/edit models/hardware/networks models/hardware/collectives models/jobs/workloads models/jobs/schedules models/jobs/parallelism models/jobs/program models/jobs/program/graphs models/jobs/scenario models/jobs/recordings models/editing models/editing/kernels models/editing/transfers models/editing/tensors models/editing/parameters models/editing/chains models/whatifs"

  "apps/public                       | sim/core models/whatifs"
  "apps/session/memory               | sim/core sim/graph sim/result sim/engine/memory trace/assemble models/hardware/catalogue models/hardware/memories"
  "apps/session/recording            | sim/core sim/graph sim/result/steps sim/engine/pull trace/io trace/table trace/annotate trace/nodes/storages trace/assemble trace/formats trace/link trace/inputs trace/ranks models/hardware/catalogue models/jobs/program models/jobs/program/graphs models/jobs/scenario apps/session/memory"
  "apps/session/scenario             | sim/core trace/graph trace/nodes models/hardware/catalogue models/hardware/networks models/jobs/scenario models/whatifs apps/session/recording"
  "apps/session/replay               | sim/core sim/graph sim/edit sim/result sim/result/steps sim/result/export sim/engine/memory sim/engine/pull sim/engine/event sim/engine/path sim/engine trace/table trace/annotate trace/graph models/hardware/catalogue apps/session/memory apps/session/recording"
  "apps/session                      | sim/core sim/graph models/hardware/catalogue models/hardware/costs models/hardware/power models/editing/kernels models/editing/parameters models/editing/batches models/jobs/scenario models/whatifs apps/session/memory apps/session/recording apps/session/replay"
  "apps/session/nodes                | sim/core sim/graph sim/result trace/nodes trace/inputs trace/ranks models/hardware/networks models/hardware/collectives apps/session/scenario apps/session/replay"
  "apps/predictor                    | sim/core sim/graph sim/result sim/result/steps sim/engine/pull sim/engine/chains models/hardware/catalogue models/jobs/program models/jobs/scenario models/jobs/figures apps/session/recording apps/session/replay apps/session"
  "apps/questions/search             | sim/core models/whatifs apps/session/recording apps/session"
  "apps/questions/memory             | sim/core sim/graph sim/result/export sim/engine/memory sim/engine/pull sim/engine/event models/policies/eviction models/whatifs apps/session/memory apps/session/recording apps/session/replay apps/session apps/questions/search"
  "apps/questions/compare            | sim/core sim/graph sim/result sim/result/steps sim/engine/memory models/hardware/kernels apps/session/recording apps/session/replay apps/session"
  "apps/questions/sharing            | sim/core models/hardware/catalogue models/jobs/scenario apps/predictor"
  "apps/questions/substitution       | sim/core apps/session/recording apps/session/replay apps/session"
  "apps/questions/validate           | sim/core sim/graph sim/engine/memory trace/table trace/rules trace/assemble trace/formats trace/ranks models/hardware/kernels models/hardware/catalogue models/hardware/costs/calibration models/whatifs apps/session/recording apps/session/replay apps/session apps/questions/compare"
  "apps/plans                        | sim/core trace/formats/chakra models/hardware/catalogue models/hardware/networks models/jobs/program models/jobs/program/graphs models/jobs/scenario models/jobs/times models/jobs/figures apps/session/scenario apps/session apps/predictor"
  "apps/sweep/space                  | sim/core models/jobs/scenario"
  "apps/sweep/methods                | apps/sweep/space"
  "apps/sweep/points                 | sim/core trace/inputs models/hardware/catalogue models/jobs/program models/jobs/scenario models/jobs/figures models/whatifs apps/session/recording apps/session/scenario apps/session apps/plans apps/sweep/space"
  "apps/sweep/store                  | sim/core apps/sweep/space apps/sweep/points"
  "apps/sweep                        | sim/core apps/sweep/space apps/sweep/methods apps/sweep/points apps/sweep/store"
  "apps/scheduling/solver            | sim/core"
  "apps/scheduling/model             | sim/core"
  "apps/scheduling/placements        | sim/core apps/scheduling/model"
  "apps/scheduling/policies          | sim/core apps/scheduling/solver apps/scheduling/model"
  "apps/scheduling/simulation        | sim/core apps/scheduling/model apps/scheduling/placements apps/scheduling/policies"
  "apps/scheduling/sources           | sim/core models/hardware/catalogue apps/scheduling/model"
  "apps/scheduling                   | sim/core models/hardware/catalogue apps/scheduling/model apps/scheduling/placements apps/scheduling/policies apps/scheduling/simulation apps/scheduling/sources"
  "apps/serving                      | sim/core models/hardware/kernels models/hardware/catalogue models/hardware/networks models/hardware/collectives models/jobs/workloads models/jobs/parallelism models/jobs/times models/jobs/program models/jobs/scenario"
  "apps/serving/calibration          | sim/core models/hardware/catalogue models/hardware/costs/calibration apps/serving"
  "apps/report                       | sim/core apps/session/replay apps/sweep/store"
  "apps/report/pages                 | sim/core apps/session/recording apps/session/replay apps/session apps/questions/search apps/questions/memory apps/questions/compare apps/questions/sharing apps/questions/validate apps/report"
  "apps/report/pages/cluster         | models/hardware/catalogue models/jobs/scenario models/jobs/figures apps/session/recording apps/session/scenario apps/session/replay apps/session/nodes apps/plans apps/sweep/space apps/sweep/store apps/sweep apps/scheduling apps/serving apps/report"
  "apps/report/svg                   | sim/core sim/graph sim/result sim/result/export sim/engine/memory trace/annotate apps/report"
  "apps/report/sections              | sim/core sim/result sim/result/steps sim/engine/path trace/annotate trace/table trace/graph models/hardware/power apps/session/recording apps/session/replay apps/session apps/questions/memory apps/questions/compare apps/report"
  "apps/report/sections/recording    | sim/core sim/result/steps models/hardware/power apps/session/recording apps/session apps/questions/compare apps/report apps/report/pages apps/report/sections"
  "apps/report/sections/memory       | sim/core apps/session/memory apps/report apps/report/pages apps/report/sections"
  "apps/report/sections/what_if      | sim/core sim/result/steps models/hardware/costs apps/session/memory apps/session/replay apps/session apps/questions/search apps/questions/memory apps/questions/sharing apps/report apps/report/pages apps/report/sections"
  "apps/report/sections/cluster      | sim/core models/hardware/execution models/jobs/program models/jobs/scenario apps/plans apps/sweep/space apps/scheduling/model apps/scheduling/simulation apps/report apps/report/pages/cluster apps/report/sections"
  "apps/report/sections/validation   | apps/session apps/questions/validate apps/report apps/report/pages apps/report/sections"
  "apps/report/schedule              | sim/core apps/scheduling/model apps/scheduling/simulation apps/scheduling apps/report apps/report/svg"
  "apps/report/sweep                 | sim/core apps/sweep/store apps/report apps/report/svg"
  "apps/extras                       | sim/core trace/formats/common models/hardware/catalogue apps/scheduling apps/serving apps/report apps/report/pages/cluster"
  "apps/extras/federated             | sim/core models/hardware/catalogue apps/report apps/extras"
  "apps/extras/storage               | sim/core models/hardware/catalogue apps/report apps/extras"
  "apps/extras/frames                | sim/core models/hardware/catalogue apps/report apps/extras"
  "apps/extras/mapping               | sim/core models/hardware/kernels models/hardware/catalogue models/hardware/costs models/hardware/networks apps/report apps/extras"
  "apps/web                          | sim/core"
  "apps/explorer/engine             | sim/core sim/graph sim/result sim/result/steps sim/result/export sim/engine sim/engine/memory sim/engine/pull"
  "apps/explorer                     | sim/core sim/graph sim/result/export sim/engine/pull models/hardware/kernels models/jobs/figures models/whatifs apps/session apps/questions/search apps/questions/compare apps/plans apps/sweep/store apps/report apps/report/pages apps/report/sections models/jobs/program"
  "apps/explorer/docs                | sim/core apps/report apps/web apps/explorer"
  "apps/explorer/served              | sim/core models/hardware/catalogue models/whatifs apps/session apps/report apps/web apps/explorer"
  "apps/python                       | sim/core models/hardware/catalogue models/hardware/costs models/jobs/figures models/whatifs apps/session/recording apps/session apps/predictor apps/questions/search apps/questions/memory apps/questions/substitution apps/plans apps/sweep/space apps/sweep/store apps/sweep apps/report apps/report/pages apps/report/pages/cluster apps/extras"
  "apps/cli/arguments                | sim/core apps/report"
  "apps/cli/names                    | sim/core trace/formats models/hardware/execution models/hardware/catalogue models/hardware/networks models/jobs/workloads models/jobs/times models/policies/eviction models/whatifs apps/scheduling/placements apps/scheduling/policies apps/serving apps/report"
  "apps/cli/output                   | sim/core sim/graph sim/result/export trace/io trace/inputs models/hardware/catalogue apps/session apps/questions/memory apps/report apps/report/svg apps/cli/arguments"
  "apps/cli                          | sim/core trace/io trace/ftr trace/collect trace/inputs models/jobs/figures models/whatifs apps/session/recording apps/session apps/questions/search apps/questions/memory apps/sweep/store apps/sweep apps/report apps/report/pages apps/report/pages/cluster apps/extras apps/explorer apps/cli/arguments apps/cli/names apps/cli/output"
  "apps/cli/commands                 | sim/core sim/result/steps sim/result/export trace/io trace/collect trace/formats/common trace/formats trace/inputs models/hardware/catalogue models/hardware/collectives models/hardware/collectives/calibration models/hardware/costs/calibration models/hardware/networks models/jobs/workloads models/jobs/scenario models/jobs/figures models/whatifs apps/session/recording apps/session/scenario apps/session apps/session/nodes apps/questions/memory apps/questions/compare apps/questions/sharing apps/questions/validate apps/questions/search apps/plans apps/sweep/space apps/sweep/store apps/sweep apps/scheduling apps/serving/calibration apps/report apps/report/pages apps/report/pages/cluster apps/report/schedule apps/report/sweep apps/extras apps/web apps/explorer apps/explorer/docs apps/explorer/served apps/cli/arguments apps/cli/names apps/cli/output apps/cli"

  "tests/validation/studies          | sim/core apps/scheduling/model apps/scheduling/placements apps/scheduling/simulation apps/scheduling/sources apps/scheduling"
  "tests/validation/tables           | sim/core sim/graph sim/engine/pull models/jobs/scenario apps/predictor apps/scheduling/sources tests/validation/studies"
  "tests/validation/maps             | sim/core models/hardware/catalogue models/hardware/kernels models/hardware/networks models/hardware/collectives models/jobs/workloads models/jobs/times models/jobs/program models/jobs/scenario models/jobs/figures apps/serving tests/validation/studies tests/validation/tables"
  "tests/validation/claims           | sim/core sim/edit sim/engine/memory sim/engine/pull models/hardware/catalogue models/hardware/networks models/jobs/scenario models/jobs/figures apps/session apps/session/recording"
  "tests/validation/pairs            | sim/core models/hardware/catalogue models/whatifs apps/session"
  "tests/validation/report           | sim/core models/hardware/catalogue apps/report tests/validation/tables tests/validation/claims tests/validation/pairs"
  "tests/validation                  | sim/core apps/questions/validate apps/report apps/cli/arguments apps/cli/names apps/cli/output apps/cli tests/validation/tables tests/validation/maps tests/validation/report"

  "tests                             | sim/* trace/* models/* apps/* tests/*"
  "examples                          | sim/core sim/graph sim/edit models/whatifs apps/session apps/session/recording apps/predictor apps/questions/search apps/scheduling apps/scheduling/model apps/scheduling/placements apps/scheduling/policies")

# what may appear only in some files: "pattern|where (regular expression)|why"
set(fences
  "nlohmann/json.hpp|^((sim/core|sim/result|models|apps|examples)/.*\\.cpp|tests/.*)$|json is parsed in sources of core, result, models and apps"
  "simdjson.h|^(trace/|tests/)|simdjson belongs to trace"
  "isa-l|^(trace/|tests/)|compressed bytes belong to trace"
  "protozero/|^trace/formats/chakra/|what writers make of protobuf stands behind one header"
  "yaml-cpp/|^models/hardware/networks/imports/yaml_lists.cpp$|YAML is read behind one header"
  "archive.h>|^(trace/io/archive.cpp|tests/)|archives are read behind one header"
  "zlib.h|^(trace/|tests/|apps/)|compressed bytes belong to trace"
  "cupti.h|^(trace/collect/cupti/|tests/trace/collect/cupti/)|CUPTI stays in the thin part of the collector"
  "re2/|^(sim/edit/text_pattern\\.cpp|tests/)|expressions are matched behind sim/edit/text_pattern.h"
  "regex>|^tests/sim/edit/text_pattern_test\\.cpp$|it takes seconds to compile and backtracks: expressions are matched by sim/edit/text_pattern.h"
  "boost/graph|^(sim/graph/boost_adaptor\\.h|models/editing/tensors/max_flow\\.cpp|tests/)|Boost.Graph takes seconds to compile: it stays behind its adaptor and in these sources"
  "boost/asio|^apps/web/|HTTP and its sockets stay behind apps/web"
  "boost/beast|^apps/web/|HTTP and its sockets stay behind apps/web"
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
