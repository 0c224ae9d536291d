# Tests that run the program: golden outputs, the commands of every README, the examples.

if(TARGET apps_tests)
  target_link_libraries(apps_tests PRIVATE foretrace_app)
  # Part of no library: pages alone read what they hold.
  target_sources(apps_tests PRIVATE ${PROJECT_SOURCE_DIR}/apps/explorer/engine/graph_reader.cpp)
  get_target_property(folder foretrace_cli BINARY_DIR)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
  target_compile_definitions(apps_tests PRIVATE FORETRACE_PROGRAM="${folder}/$<TARGET_FILE_NAME:foretrace_cli>")
  add_library(empty_collector MODULE apps/empty_collector.cpp)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR})
  target_compile_definitions(apps_tests PRIVATE
    FORETRACE_EMPTY_COLLECTOR="${folder}/$<TARGET_FILE_NAME:empty_collector>")
  add_dependencies(apps_tests foretrace_cli empty_collector)
  # The kills of `make test` are few; these are many: cmake --build --preset dev --target kill_test
  add_custom_target(kill_test DEPENDS apps_tests USES_TERMINAL
    COMMAND ${CMAKE_COMMAND} -E env FORETRACE_KILLS=200 $<TARGET_FILE:apps_tests> "-tc=*killed*")
endif()

file(GLOB cases CONFIGURE_DEPENDS golden/*/cmd)
foreach(command IN LISTS cases)
  get_filename_component(case ${command} DIRECTORY)
  get_filename_component(name ${case} NAME)
  string(REPLACE "_" " " title ${name})
  add_test(NAME "golden: ${title}" COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}
    -DPROGRAM=$<TARGET_FILE:foretrace_cli> -DCASE=${case} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/golden/${name}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/golden_case.cmake)
  set_tests_properties("golden: ${title}" PROPERTIES LABELS golden TIMEOUT 120)
endforeach()

# Every ```console block of a page shows what its commands print.
add_executable(readme_commands readme_commands/main.cpp)
target_compile_features(readme_commands PRIVATE cxx_std_20)
file(GLOB pages CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/*.md ${PROJECT_SOURCE_DIR}/*/README.md
  ${PROJECT_SOURCE_DIR}/apps/*/README.md)
file(GLOB_RECURSE more CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/examples/*.md)
list(APPEND pages ${more})
list(REMOVE_DUPLICATES pages)
foreach(page IN LISTS pages)
  file(STRINGS ${PROJECT_SOURCE_DIR}/${page} blocks REGEX "^```console$")
  if(blocks)
    add_test(NAME "readme: ${page} shows what its commands print" COMMAND readme_commands
      ${PROJECT_SOURCE_DIR} $<TARGET_FILE:foretrace_cli> ${PROJECT_SOURCE_DIR}/${page})
    set_tests_properties("readme: ${page} shows what its commands print" PROPERTIES LABELS readme TIMEOUT 300)
  endif()
endforeach()

# Commands that stand elsewhere exist with their options, and pictures are drawn by what is named for each.
set(scripts "every command that a page names exists with its options|commands" "every picture is what the program draws|pictures")
foreach(script IN LISTS scripts)
  string(REPLACE "|" ";" script "${script}")
  list(GET script 0 title)
  list(GET script 1 name)
  add_test(NAME "readme: ${title}" COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DPROGRAM=$<TARGET_FILE:foretrace_cli>
    -DTRACES=${FORETRACE_SHARED_DATA}/traces -DWORK=${CMAKE_CURRENT_BINARY_DIR}/${name} -P ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cmake)
  set_tests_properties("readme: ${title}" PROPERTIES LABELS readme TIMEOUT 120)
endforeach()

# Pages of figures on real recordings are what the program prints today.
foreach(page "CLAIMS --claims foretrace_validate" "WHATIFS --what-ifs foretrace_cli validate")
  separate_arguments(parts UNIX_COMMAND "${page}")
  list(POP_FRONT parts name table program)
  set(test "validation: ${name}.md shows what validate ${table} prints")
  add_test(NAME "${test}" COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}
    "-DPROGRAM=$<TARGET_FILE:${program}>;${parts}" -DTRACES=${FORETRACE_SHARED_DATA}/traces
    -DPAGE=${CMAKE_CURRENT_SOURCE_DIR}/validation/${name}.md -DTABLE=${table}
    -DWORK=${CMAKE_CURRENT_BINARY_DIR}/validation/${name} -P ${CMAKE_CURRENT_SOURCE_DIR}/validation_page.cmake)
  set_tests_properties("${test}" PROPERTIES LABELS validation TIMEOUT 600 SKIP_REGULAR_EXPRESSION "SKIPPED: ")
endforeach()

set(test "validation: PAIRS.md shows what two what-ifs do together")
add_test(NAME "${test}" COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}
  -DPROGRAM=$<TARGET_FILE:foretrace_validate>
  "-DTABLE=--pairs;examples/traces/h100_stacks/gpt2.foreach_adam.ftr.gz"
  -DPAGE=${CMAKE_CURRENT_SOURCE_DIR}/validation/PAIRS.md -DWORK=${CMAKE_CURRENT_BINARY_DIR}/validation/PAIRS
  -P ${CMAKE_CURRENT_SOURCE_DIR}/validation_page.cmake)
set_tests_properties("${test}" PROPERTIES LABELS validation TIMEOUT 600)

# The projects among the examples, built against the installed package.
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
set(settings -G ${CMAKE_GENERATOR} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}
  "-DCMAKE_CXX_FLAGS_${type}=${CMAKE_CXX_FLAGS_${type}}")
foreach(example "recipes/library loader_workers" "recipes/own_what_if try_byte_upload"
    "recipes/predictor place_jobs")
  separate_arguments(parts UNIX_COMMAND "${example}")
  list(GET parts 0 folder)
  list(GET parts 1 program)
  add_test(NAME "example: ${folder} builds and prints what it says" COMMAND ${CMAKE_COMMAND}
    -DBUILD=${PROJECT_BINARY_DIR} -DROOT=${PROJECT_SOURCE_DIR} -DEXAMPLE=${folder} -DPROGRAM=${program}
    -DWORK=${CMAKE_CURRENT_BINARY_DIR}/examples/${folder} "-DSETTINGS=${settings}"
    -P ${CMAKE_CURRENT_SOURCE_DIR}/example_project.cmake)
  set_tests_properties("example: ${folder} builds and prints what it says" PROPERTIES LABELS install TIMEOUT 600)
endforeach()

# The demo trace is what its script makes, if Python is there to tell.
find_program(PYTHON3 python3)
if(PYTHON3)
  add_test(NAME "example: the demo trace is what its script makes" COMMAND ${CMAKE_COMMAND}
    -DPYTHON=${PYTHON3} -DROOT=${PROJECT_SOURCE_DIR} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/demo_trace
    -P ${CMAKE_CURRENT_SOURCE_DIR}/demo_trace.cmake)
  set_tests_properties("example: the demo trace is what its script makes" PROPERTIES LABELS house TIMEOUT 120)
  set(test "readme: snippets parse, and call what exists")
  add_test(NAME "${test}" COMMAND ${PYTHON3} ${CMAKE_CURRENT_SOURCE_DIR}/snippets.py ${PROJECT_SOURCE_DIR})
  set_tests_properties("${test}" PROPERTIES LABELS readme TIMEOUT 60)
endif()
