# Joins the modules of a page into one script and writes page, style and scripts as C++:
# cmake -DROOT=... -DOUT=... -P bundle.cmake
# Modules import each other, so that tests can load each alone; names at their top level are unique.
cmake_minimum_required(VERSION 3.25)
include(${ROOT}/modules.cmake)
file(GLOB_RECURSE found RELATIVE ${ROOT} ${ROOT}/*.mjs)
foreach(module IN LISTS found)
  if(NOT module IN_LIST page_script AND NOT module IN_LIST sweep_script)
    message(FATAL_ERROR "${module} stands in no list: apps/explorer/page/modules.cmake")
  endif()
endforeach()
# Comments and indentation stay in the sources: pages are sent by mail.
function(join out)
  set(script "'use strict';\n")
  foreach(module IN LISTS ARGN)
    file(READ ${ROOT}/${module} text)
    string(REGEX REPLACE "(^|\n)import {[^}]*} from '[^']*';" "" text "${text}")
    string(REGEX REPLACE "(^|\n)export " "\\1" text "${text}")
    string(APPEND script "${text}")
  endforeach()
  string(REGEX MATCHALL "\n(async function|function|const|let|class) [A-Za-z0-9_]+" declared "${script}")
  list(TRANSFORM declared REPLACE ".* " "")
  set(known "")
  foreach(name IN LISTS declared)
    if(name IN_LIST known)
      message(FATAL_ERROR "two modules of the page declare ${name}; joined they are one script")
    endif()
    list(APPEND known ${name})
  endforeach()
  string(TOLOWER "${script}" lower)
  if(lower MATCHES "</script" OR script MATCHES "innerHTML|document\\.write|eval\\(|\\)page\"")
    message(FATAL_ERROR "the script of the page holds what would end it, or writes markup")
  endif()
  string(REGEX REPLACE "\n *//[^\n]*" "" script "${script}")
  string(REGEX REPLACE "\n */[*][*]([^*]|[*][^/])*[*]/" "" script "${script}")
  string(REGEX REPLACE " // [^\n]*\n" "\n" script "${script}")
  string(REGEX REPLACE "\n +" "\n" script "${script}")
  # Blanks around what stands in no text, and line ends behind what ends or begins a statement.
  foreach(sign "=" "===" "!==" "&&" "||" "??" "+=" ">=" "<=" "=>" "?" ":" "*" "+")
    string(REPLACE " ${sign} " "${sign}" script "${script}")
  endforeach()
  string(REPLACE ";\n" ";" script "${script}")
  string(REPLACE "{\n" "{" script "${script}")
  string(REPLACE ",\n" "," script "${script}")
  string(REPLACE ") {" "){" script "${script}")
  string(REPLACE "{ " "{" script "${script}")
  string(REPLACE " }" "}" script "${script}")
  string(REPLACE "}\n" "}" script "${script}")
  string(REPLACE "if (" "if(" script "${script}")
  string(REPLACE "for (" "for(" script "${script}")
  string(REPLACE ", {}, " ",{}," script "${script}")
  set(${out} "${script}" PARENT_SCOPE)
endfunction()
join(script ${page_script})
join(script_of_sweeps ${sweep_script})
file(READ ${ROOT}/page.html page)
function(shorten out text)
  string(REGEX REPLACE "\n */[*][^\n]*[*]/" "" text "${text}")
  string(REGEX REPLACE " *([{};,]) *" "\\1" text "${text}")
  string(REGEX REPLACE ": +" ":" text "${text}")
  string(REGEX REPLACE "\n +" "\n" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()
file(READ ${ROOT}/style.css of_pages)
file(READ ${ROOT}/docs.css of_docs)
string(FIND "${of_pages}" "\n* {" begin) # what stands before it are the colours
string(SUBSTRING "${of_pages}" 0 ${begin} colours)
shorten(style "${of_pages}")
shorten(docs_style "${colours}\n${of_docs}")
file(WRITE ${OUT} "// Generated from apps/explorer/page by apps/explorer/bundle.cmake.
#include \"apps/explorer/page_assets.h\"

namespace foretrace::explorer {
std::string_view page_template() { return R\"page(${page})page\"; }
std::string_view page_style() { return R\"page(${style})page\"; }
std::string_view docs_style() { return R\"page(${docs_style})page\"; }
std::string_view page_script() { return R\"page(${script})page\"; }
std::string_view sweep_script() { return R\"page(${script_of_sweeps})page\"; }
}  // namespace foretrace::explorer
")
