# The engine of pages from the sources of the program: cmake --build --preset dev --target page_engine
# It compiles them for WebAssembly and compares what comes out with the module that is committed, which it writes anew
# where they differ. Nothing else needs this compiler.
find_program(WASM_CXX NAMES clang++-19)
find_program(NODE NAMES node nodejs)
if(NOT WASM_CXX OR NOT NODE)
  add_custom_target(page_engine COMMAND ${CMAKE_COMMAND} -E echo "page_engine: run .ci/setup.sh page, then configure again"
    COMMAND ${CMAKE_COMMAND} -E false)
  return()
endif()
set(engine_sources
  apps/explorer/engine/engine.cpp apps/explorer/engine/graph_reader.cpp
  sim/result/steps/steps.cpp sim/result/steps/step_times.cpp sim/result/steps/step_scope.cpp sim/result/steps/step_breakdown.cpp
  sim/core/name_table.cpp sim/graph/task_graph.cpp sim/graph/links.cpp
  sim/engine/reactions.cpp sim/engine/pull/pull.cpp sim/engine/release/release.cpp sim/engine/memory/memory_tracker.cpp
  sim/result/activity.cpp sim/result/device_steps.cpp sim/result/summary.cpp)
set(engine_module ${CMAKE_CURRENT_BINARY_DIR}/page_engine.wasm)
# Of Debian's headers only those of fmt are needed; those of the target come first.
add_custom_target(page_engine VERBATIM USES_TERMINAL WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  COMMAND ${WASM_CXX} --target=wasm32-wasi -mexec-model=reactor -std=c++20 -Os -DNDEBUG -flto -mbulk-memory -fno-exceptions -fno-rtti
    -Wl,--strip-all -I. -idirafter /usr/include ${engine_sources} -o ${engine_module}
  COMMAND ${NODE} apps/explorer/engine/compare.mjs ${engine_module} apps/explorer/page/model/engine_module.mjs)
