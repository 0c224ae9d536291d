# Tests of the page that `report` writes.
add_executable(page_points ${CMAKE_CURRENT_LIST_DIR}/page_points.cpp ${CMAKE_CURRENT_LIST_DIR}/hand_made.cpp)
target_link_libraries(page_points PRIVATE foretrace_explorer foretrace_flags nlohmann_json::nlohmann_json)
target_include_directories(page_points PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_definitions(page_points PRIVATE FORETRACE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")

find_program(NODE NAMES node nodejs)
set(equal_here ${CMAKE_CURRENT_LIST_DIR}/equal.mjs)
# NAME of the test, then the traces, relative to the real ones, or below the project where they begin with "./".
function(foretrace_page_equal name label)
  set(traces "")
  foreach(trace IN LISTS ARGN)
    if(trace MATCHES "^[.]/(.*)")
      list(APPEND traces ${PROJECT_SOURCE_DIR}/${CMAKE_MATCH_1})
    elseif(EXISTS ${FORETRACE_SHARED_DATA}/traces/${trace})
      list(APPEND traces ${FORETRACE_SHARED_DATA}/traces/${trace})
    else()
      message(STATUS "no test of the page on ${trace}, which is not there")
      return()
    endif()
  endforeach()
  string(MAKE_C_IDENTIFIER ${name} stem)
  set(test "page: simulates ${name} as C++ does")
  if(NODE)
    add_test(NAME "${test}" COMMAND ${NODE} ${equal_here} $<TARGET_FILE:page_points>
      ${CMAKE_CURRENT_BINARY_DIR}/page_${stem} ${traces})
  else()
    add_test(NAME "${test}" COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: no node")
  endif()
  set_tests_properties("${test}" PROPERTIES LABELS ${label} TIMEOUT 600 SKIP_REGULAR_EXPRESSION "SKIPPED: ")
endfunction()

foretrace_page_equal("the demo" page ./examples/traces/demo_generated_cnn.json.gz)
foretrace_page_equal("the demo with its memory" page ./examples/traces/demo_generated_cnn_memory.json.gz)
foretrace_page_equal("a job of four ranks" page ./tests/fixtures/job)
foretrace_page_equal("several streams that wait" page ./tests/fixtures/kineto_json/training_2024.json)
foretrace_page_equal("ResNet-50 training" page kineto_resnet50/workers0_v100.json.gz)
foretrace_page_equal("segment anything" page saf_amg/n28_baseline_a100.json.gz)
foretrace_page_equal("a straggler" page torchrec_dlrm_v100x4/straggler_rank0.json.gz
  torchrec_dlrm_v100x4/straggler_rank1.json.gz torchrec_dlrm_v100x4/straggler_rank2.json.gz
  torchrec_dlrm_v100x4/straggler_rank3.json.gz)
foretrace_page_equal("a compiled step on 8 GPUs" page modded_nanogpt/rs_at_step_end_rank0_of_8_h100.json.gz)
foretrace_page_equal("recorded memory of python frames" page ao/gtx1650_python_stack_memory.json.gz)
foretrace_page_equal("a large language model on AMD" page tracelens/qwen15_05b_mi300x.json.gz)
foretrace_page_equal("graph launches" page hta/train_2rank_v100_rank1.json.gz)

if(NODE)
  add_test(NAME "page: simulates random graphs and changes as C++ does" COMMAND ${NODE} ${CMAKE_CURRENT_LIST_DIR}/equal_random.mjs
    $<TARGET_FILE:page_points> ${CMAKE_CURRENT_BINARY_DIR}/page_random 200)
else()
  add_test(NAME "page: simulates random graphs and changes as C++ does" COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: no node")
endif()
set_tests_properties("page: simulates random graphs and changes as C++ does" PROPERTIES LABELS page TIMEOUT 300 SKIP_REGULAR_EXPRESSION "SKIPPED: ")

# NAME of the test, its script: parts of the page by themselves.
function(foretrace_page_part name script)
  if(NODE)
    add_test(NAME "${name}" COMMAND ${NODE} ${CMAKE_CURRENT_LIST_DIR}/${script})
  else()
    add_test(NAME "${name}" COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: no node")
  endif()
  set_tests_properties("${name}" PROPERTIES LABELS page TIMEOUT 60 SKIP_REGULAR_EXPRESSION "SKIPPED: ")
endfunction()
foretrace_page_part("page: shows every device before threads, and no tick twice" lanes.mjs)
foretrace_page_part("page: tracks, links, sums, search and colours are as they should be" parts.mjs)

# All of them take minutes: cmake --build --preset dev --target page_equality
if(NODE)
  add_custom_target(page_equality DEPENDS page_points USES_TERMINAL
    COMMAND ${NODE} ${CMAKE_CURRENT_LIST_DIR}/equal_all.mjs $<TARGET_FILE:page_points>
      ${CMAKE_CURRENT_BINARY_DIR}/page_equality ${FORETRACE_SHARED_DATA}/traces)
endif()

# NAME of the test, then how it is made: run, scenario, compare or sweep, and the arguments.
function(foretrace_page_figures name)
  set(words "")
  foreach(word IN LISTS ARGN)
    if(word MATCHES "^traces/")
      if(NOT EXISTS ${FORETRACE_SHARED_DATA}/${word})
        message(STATUS "no test of the page on ${word}, which is not there")
        return()
      endif()
      set(word ${FORETRACE_SHARED_DATA}/${word})
    endif()
    list(APPEND words ${word})
  endforeach()
  string(MAKE_C_IDENTIFIER ${name} stem)
  set(test "page: every figure of ${name} is that of the document")
  if(NODE)
    add_test(NAME "${test}" WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMAND ${NODE} tests/apps/explorer/equal_figures.mjs
      $<TARGET_FILE:foretrace_cli> ${CMAKE_CURRENT_BINARY_DIR}/figures_${stem} ${words})
  else()
    add_test(NAME "${test}" COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: no node")
  endif()
  set_tests_properties("${test}" PROPERTIES LABELS page TIMEOUT 300 SKIP_REGULAR_EXPRESSION "SKIPPED: ")
endfunction()
foretrace_page_figures("the demo" run examples/traces/demo_generated_cnn.json.gz)
foretrace_page_figures("the demo with its memory" run examples/traces/demo_generated_cnn_memory.json.gz --apply activation_checkpointing)
foretrace_page_figures("a stack of what-ifs" run examples/traces/demo_generated_cnn.json.gz --apply mixed_precision --apply batch_size:factor=2)
foretrace_page_figures("a doubt that a command takes away" run traces/tracelens/sglang_qwen3_8b_decode.json.gz)
foretrace_page_figures("one step" run examples/traces/demo_generated_cnn.json.gz --step 3)
foretrace_page_figures("a job of four ranks" run tests/fixtures/job)
foretrace_page_figures("a plan" scenario configs/scenarios/gpt3_175b_selene.json)
foretrace_page_figures("a pipeline" scenario examples/recipes/report/pipeline.json)
foretrace_page_figures("two runs" compare examples/traces/demo_generated_cnn.json.gz examples/traces/demo_generated_cnn_memory.json.gz)
foretrace_page_figures("two runs of which one is faster" compare examples/traces/h100/gpt2.baseline.ftr.gz examples/traces/h100/gpt2.sdpa.ftr.gz)
foretrace_page_figures("a sweep" sweep examples/recipes/sweeps/gpt3_512.json)
foretrace_page_figures("ResNet-50 training" run traces/kineto_resnet50/workers0_v100.json.gz)

# What is shown follows from what is switched on, in whatever order: SEED and MOVES, then the page.
function(foretrace_page_states name)
  set(test "page: shows ${name} as it is freshly opened")
  string(MAKE_C_IDENTIFIER ${name} stem)
  if(NODE)
    add_test(NAME "${test}" WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMAND ${NODE} tests/apps/explorer/states.mjs
      $<TARGET_FILE:foretrace_cli> ${CMAKE_CURRENT_BINARY_DIR}/states_${stem} ${ARGN})
  else()
    add_test(NAME "${test}" COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: no node")
  endif()
  set_tests_properties("${test}" PROPERTIES LABELS page TIMEOUT 300 SKIP_REGULAR_EXPRESSION "SKIPPED: ")
endfunction()
foretrace_page_states("the demo" 1 20 report examples/traces/demo_generated_cnn_memory.json.gz)
foretrace_page_states("a stack of what-ifs" 2 10 report examples/traces/demo_generated_cnn.json.gz --apply mixed_precision --apply fused_optimizer)
foretrace_page_states("one step" 5 8 report examples/traces/demo_generated_cnn.json.gz --step 3)
foretrace_page_states("a job of four ranks" 3 15 report tests/fixtures/job)
foretrace_page_states("a pipeline" 4 15 report --scenario examples/recipes/report/pipeline.json)

# A real browser has clocks of its own: these run where they are asked for, cmake -DFORETRACE_BROWSER_TESTS=ON.
option(FORETRACE_BROWSER_TESTS "Test pages in Chromium too" OFF)
if(NOT FORETRACE_BROWSER_TESTS)
  return()
endif()

# Nothing in the console, nothing asked for, alive after opening.
find_program(CHROMIUM NAMES chromium chromium-browser google-chrome)
find_program(FIREFOX NAMES firefox-esr firefox)
find_program(PYTHON3 python3)
set(test "page: opens in a browser without a message")
if(CHROMIUM AND PYTHON3)
  add_test(NAME "${test}" COMMAND ${PYTHON3} ${CMAKE_CURRENT_LIST_DIR}/in_browser.py ${CHROMIUM}
    $<TARGET_FILE:foretrace_cli> ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/page_in_browser)
else()
  add_test(NAME "${test}" COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: no chromium or no python3")
endif()
set_tests_properties("${test}" PROPERTIES LABELS page TIMEOUT 300 SKIP_REGULAR_EXPRESSION "SKIPPED: ")

# These speak to the browser over its protocol, which needs a Node with WebSocket.
if(NODE)
  execute_process(COMMAND ${NODE} --experimental-websocket -e "process.exit(typeof WebSocket === 'function' ? 0 : 1)"
    RESULT_VARIABLE no_sockets OUTPUT_QUIET ERROR_QUIET)
else()
  set(no_sockets 1)
endif()
# NAME of the test, its script, the browser, and what comes behind the browser and the program.
function(foretrace_page_browser name script browser)
  if(browser AND NOT no_sockets)
    add_test(NAME "${name}" WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMAND ${NODE} --experimental-websocket
      tests/apps/explorer/${script} ${browser} $<TARGET_FILE:foretrace_cli> ${ARGN})
  else()
    add_test(NAME "${name}" COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: no such browser, or no node with WebSocket")
  endif()
  set_tests_properties("${name}" PROPERTIES LABELS page TIMEOUT 400 SKIP_REGULAR_EXPRESSION "SKIPPED: ")
endfunction()
# Real keys, links, no scripts.
set(demo examples/traces/demo_generated_cnn.json.gz)
foretrace_page_browser("page: answers keys, links and readers as a user expects" interact.mjs "${CHROMIUM}"
  ${demo} ${CMAKE_CURRENT_BINARY_DIR}/page_interact)
foretrace_page_browser("page: answers keys, links and readers in Firefox too" interact.mjs "${FIREFOX}"
  ${demo} ${CMAKE_CURRENT_BINARY_DIR}/page_interact_firefox)
# Roles, names, contrast in light and dark, the tabulator, paper: every kind of page.
foretrace_page_browser("page: can be read, reached and printed by everyone" audit.mjs "${CHROMIUM}"
  ${CMAKE_CURRENT_BINARY_DIR}/page_audit)
# axe-core itself, where FORETRACE_AXE names it.
foretrace_page_browser("page: axe finds nothing" axe.mjs "${CHROMIUM}" ${CMAKE_CURRENT_BINARY_DIR}/page_axe)
foretrace_page_browser("page: axe finds nothing in Firefox either" axe.mjs "${FIREFOX}" ${CMAKE_CURRENT_BINARY_DIR}/page_axe_firefox)
# First view, link, search, help, pointer, tracks, time added up.
foretrace_page_browser("page: a timeline does what a user asks" timeline_use.mjs "${CHROMIUM}" ${CMAKE_CURRENT_BINARY_DIR}/page_timeline)
foretrace_page_browser("page: a timeline does what a user asks in Firefox too" timeline_use.mjs "${FIREFOX}" ${CMAKE_CURRENT_BINARY_DIR}/page_timeline_firefox)
# One point in every chart, axes that move, the front, the link; the folder of a sweep as the argument.
foretrace_page_browser("page: points of a sweep are found, named and kept" sweep_use.mjs "${CHROMIUM}" ${CMAKE_CURRENT_BINARY_DIR}/page_sweep)
foretrace_page_browser("page: points of a sweep are found, named and kept in Firefox too" sweep_use.mjs "${FIREFOX}" ${CMAKE_CURRENT_BINARY_DIR}/page_sweep_firefox)
# Every figure, as Chromium shows it.
if(CHROMIUM AND NOT no_sockets)
  add_test(NAME "page: every figure in Chromium is that of the document" WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    COMMAND ${NODE} --experimental-websocket tests/apps/explorer/equal_figures.mjs --browser=${CHROMIUM} $<TARGET_FILE:foretrace_cli>
      ${CMAKE_CURRENT_BINARY_DIR}/figures_in_chromium run ${demo})
  set_tests_properties("page: every figure in Chromium is that of the document" PROPERTIES LABELS page TIMEOUT 400)
endif()
# The page of `serve` with its engine behind it.
foretrace_page_browser("page: asks its server, and goes on without it" served.mjs "${CHROMIUM}"
  examples/traces/demo_generated_cnn_memory.json.gz)
foretrace_page_browser("page: asks its server in Firefox too" served.mjs "${FIREFOX}"
  examples/traces/demo_generated_cnn_memory.json.gz)
