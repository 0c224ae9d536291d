# Tests that run the program: golden outputs, the commands of every README, the examples.

if(TARGET apps_tests)
  target_link_libraries(apps_tests PRIVATE foretrace_app)
  target_compile_definitions(apps_tests PRIVATE FORETRACE_PROGRAM="$<TARGET_FILE:foretrace_cli>")
  add_dependencies(apps_tests foretrace_cli)
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

add_executable(readme_commands readme_commands/main.cpp)
target_compile_features(readme_commands PRIVATE cxx_std_20)
file(GLOB pages CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/*.md
  ${PROJECT_SOURCE_DIR}/*/README.md ${PROJECT_SOURCE_DIR}/examples/*/README.md)
foreach(page IN LISTS pages)
  file(STRINGS ${PROJECT_SOURCE_DIR}/${page} blocks REGEX "^```console$")
  if(blocks)
    add_test(NAME "readme: ${page} shows what its commands print" COMMAND readme_commands
      ${PROJECT_SOURCE_DIR} $<TARGET_FILE:foretrace_cli> ${PROJECT_SOURCE_DIR}/${page})
    set_tests_properties("readme: ${page} shows what its commands print" PROPERTIES LABELS readme TIMEOUT 300)
  endif()
endforeach()
