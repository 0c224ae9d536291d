# What C++ projects get: find_package(Foretrace) and pkg-config, static libraries or, with BUILD_SHARED_LIBS, one shared
# library. What needs a solver is apart: find_package(Foretrace COMPONENTS scheduling), foretrace-scheduling.pc.
include(CMakePackageConfigHelpers)
get_property(rooms GLOBAL PROPERTY FORETRACE_ROOMS)
list(REMOVE_ITEM rooms scheduling)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Foretrace)

# Until 1.0 types may change with every minor version, and so does the name that programs are linked to.
set(abi ${PROJECT_VERSION_MAJOR})
if(abi EQUAL 0)
  set(abi 0.${PROJECT_VERSION_MINOR})
endif()

# One shared library of the objects of some ROOMS, which brings what they link but shows it to nobody.
function(foretrace_shared_library name output)
  add_library(${name} SHARED)
  foreach(room IN LISTS ARGN)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:foretrace_${room}>)
    get_target_property(needs foretrace_${room} LINK_LIBRARIES)
    list(FILTER needs EXCLUDE REGEX "foretrace")
    target_link_libraries(${name} PRIVATE ${needs})
  endforeach()
  set_target_properties(${name} PROPERTIES OUTPUT_NAME ${output} VERSION ${PROJECT_VERSION} SOVERSION ${abi}
    LINKER_LANGUAGE CXX)
  target_link_options(${name} PRIVATE -Wl,--no-undefined)
  target_compile_features(${name} INTERFACE cxx_std_20)
  target_include_directories(${name} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

# A target of the installed package alone: NAME stands for what it links.
function(foretrace_installed_name set name)
  add_library(foretrace_installed_${name} INTERFACE)
  set_target_properties(foretrace_installed_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(foretrace_installed_${name} INTERFACE ${ARGN})
  install(TARGETS foretrace_installed_${name} EXPORT ${set} COMPONENT development)
endfunction()

if(BUILD_SHARED_LIBS)
  foretrace_shared_library(foretrace_shared foretrace ${rooms})
  set_target_properties(foretrace_shared PROPERTIES EXPORT_NAME foretrace)
  install(TARGETS foretrace_shared EXPORT ForetraceTargets COMPONENT development)
  foreach(room IN LISTS rooms)
    foretrace_installed_name(ForetraceTargets ${room} foretrace_shared)
  endforeach()
  foretrace_shared_library(foretrace_scheduling_shared foretrace_scheduling scheduling)
  target_link_libraries(foretrace_scheduling_shared PUBLIC foretrace_shared)
  set_target_properties(foretrace_scheduling_shared PROPERTIES EXPORT_NAME scheduling)
  install(TARGETS foretrace_scheduling_shared EXPORT ForetraceSchedulingTargets COMPONENT development)
  set(boost_on foretrace_shared)
else()
  foreach(room IN LISTS rooms)
    install(TARGETS foretrace_${room} EXPORT ForetraceTargets COMPONENT development)
  endforeach()
  set_target_properties(foretrace_all PROPERTIES EXPORT_NAME foretrace)
  install(TARGETS foretrace_all EXPORT ForetraceTargets COMPONENT development)
  install(TARGETS foretrace_scheduling EXPORT ForetraceSchedulingTargets COMPONENT development)
  set(boost_on foretrace_sim)
endif()
# Only one public header needs Boost.
foretrace_installed_name(ForetraceTargets boost ${boost_on} Boost::headers)
foreach(set ForetraceTargets ForetraceSchedulingTargets)
  install(EXPORT ${set} NAMESPACE foretrace:: DESTINATION ${package_dir} COMPONENT development)
endforeach()

# What a program that is linked to the libraries has to find: nothing more where they are shared.
set(needs_cmake "")
set(needs_pc "")
function(foretrace_needs package module)
  set(needs_cmake "${needs_cmake}find_dependency(${package})\n" PARENT_SCOPE)
  set(needs_pc ${needs_pc} ${module} PARENT_SCOPE)
endfunction()
if(NOT BUILD_SHARED_LIBS)
  foretrace_needs("fmt 9" fmt)
  foretrace_needs(ZLIB zlib)
  foretrace_needs(SQLite3 sqlite3)
  foretrace_needs("simdjson 3" simdjson)
  if(LibArchive_FOUND)
    foretrace_needs(LibArchive libarchive)
  endif()
  if(yaml-cpp_FOUND)
    foretrace_needs(yaml-cpp yaml-cpp)
  endif()
  string(APPEND needs_cmake "find_dependency(Threads)\nfind_library_of(re2::re2 re2 re2/re2.h)\n")
  list(APPEND needs_pc re2)
  if(TARGET isal::isal)
    string(APPEND needs_cmake "find_library_of(isal::isal isal isa-l/igzip_lib.h)\n")
    list(APPEND needs_pc libisal)
  endif()
  set(needs_of_scheduling "  find_library_of(Clp::Clp Clp coin/Clp_C_Interface.h)\n")
endif()
write_basic_package_version_file(ForetraceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
file(CONFIGURE OUTPUT ForetraceConfig.cmake @ONLY CONTENT [=[
include(CMakeFindDependencyMacro)
include("${CMAKE_CURRENT_LIST_DIR}/find_libraries.cmake")
macro(find_library_of target)
  foretrace_find_library(${target} ${ARGN})
  if(NOT TARGET ${target})
    set(Foretrace_FOUND OFF)
    set(Foretrace_NOT_FOUND_MESSAGE "Foretrace needs ${target}, which was not found")
    return()
  endif()
endmacro()

@needs_cmake@
# foretrace::boost, for <foretrace/graph/boost_adaptor.h>
if("boost" IN_LIST Foretrace_FIND_COMPONENTS)
  find_dependency(Boost 1.74)
  set(Foretrace_boost_FOUND ON)
endif()
include("${CMAKE_CURRENT_LIST_DIR}/ForetraceTargets.cmake")
# foretrace::scheduling, for <foretrace/scheduling/...>
if("scheduling" IN_LIST Foretrace_FIND_COMPONENTS)
@needs_of_scheduling@  include("${CMAKE_CURRENT_LIST_DIR}/ForetraceSchedulingTargets.cmake")
  set(Foretrace_scheduling_FOUND ON)
endif()
foreach(component IN LISTS Foretrace_FIND_COMPONENTS)
  if(Foretrace_FIND_REQUIRED_${component} AND NOT Foretrace_${component}_FOUND)
    set(Foretrace_FOUND OFF)
    set(Foretrace_NOT_FOUND_MESSAGE "Foretrace has no component ${component}: it has boost and scheduling")
  endif()
endforeach()
]=])
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ForetraceConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/ForetraceConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/find_libraries.cmake DESTINATION ${package_dir} COMPONENT development)

# The same for pkg-config. Static libraries need others in every program, so these are named by Requires: Requires.private
# is for who is linked to a shared library or asks with --static. A shared library brings its own.
string(REGEX REPLACE "[^/]+" ".." up "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
function(foretrace_pkg_config name about libs requires)
  file(CONFIGURE OUTPUT ${name}.pc @ONLY CONTENT [=[
prefix=${pcfiledir}/@up@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: @name@
Description: @about@
Version: @PROJECT_VERSION@
Requires: @requires@
Libs: -L${libdir} @libs@
Cflags: -I${includedir}
]=])
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()
set(solver "")
if(BUILD_SHARED_LIBS)
  set(libs -lforetrace)
else()
  # Who uses comes before who is used.
  list(REVERSE rooms)
  list(TRANSFORM rooms PREPEND -lforetrace_ OUTPUT_VARIABLE libs)
  list(APPEND libs -pthread)
  set(solver clp)
endif()
list(JOIN libs " " libs)
list(JOIN needs_pc " " needs_pc)
foretrace_pkg_config(foretrace "${PROJECT_DESCRIPTION}" "${libs}" "${needs_pc}")
foretrace_pkg_config(foretrace-scheduling "Jobs of a cluster over time" "-lforetrace_scheduling" "foretrace ${solver}")
