# Libraries that bring no CMake package, as imported targets: the build finds them so, and whoever uses the installed
# package finds them anew, wherever they lie there.
function(foretrace_find_library target library header)
  if(TARGET ${target})
    return()
  endif()
  find_library(FORETRACE_${library}_LIBRARY ${library})
  find_path(FORETRACE_${library}_INCLUDE_DIR ${header})
  mark_as_advanced(FORETRACE_${library}_LIBRARY FORETRACE_${library}_INCLUDE_DIR)
  if(FORETRACE_${library}_LIBRARY AND FORETRACE_${library}_INCLUDE_DIR)
    add_library(${target} UNKNOWN IMPORTED)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${FORETRACE_${library}_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${FORETRACE_${library}_INCLUDE_DIR}")
  elseif("REQUIRED" IN_LIST ARGN)
    message(FATAL_ERROR "Foretrace: library ${library} with <${header}> not found")
  endif()
endfunction()
