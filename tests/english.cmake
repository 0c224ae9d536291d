# Words that .github/WORDS.md replaces do not come back in texts that users read: cmake -DROOT=... -P english.cmake
cmake_minimum_required(VERSION 3.25)

# "word (regular expression)|what we say instead". A text is a literal with a blank in it.
set(rules
  "[Oo]ptimi[sz]ations?|what-if, 'optimization' stays in old names that users typed"
  "[Rr]ests? on|is based on, or a number: measured 92 %"
  "[Hh]olds?|contains, stores, keeps, uses"
  "held|stored, kept, used"
  "feature maps?|activations"
  "doubtful|low-confidence"
  "could give|maximum saving"
  "finds? nothing|does not apply"
  "[Tt]akes? away|removes"
  "goes with|is proportional to"
  "parted by|separated by"
  "no room for|does not fit, or hidden"
  "what lies|other kernels, the rest"
  "profiler's work|profiler overhead"
  "nobody|no task, no kernel: what it is"
  "that is there|existing, recorded")
# Command lines: errors name what was asked for, apps/cli/output/as_typed.cpp adds how it is typed.
set(typed
  "--[a-z]|what was asked for, without its option"
  "foretrace [a-z]+|what it does, without the command")

# What is left, "word|folder|texts". A number may only become smaller: who takes a word away lowers it.
# Options of nsys and rocprofv3 are no options of ours.
set(left
  "[Oo]ptimi[sz]ations?|models|8"
  "[Oo]ptimi[sz]ations?|apps|7"
  "[Hh]olds?|models|1"
  "held|apps|2"
  "doubtful|apps|1"
  "what lies|models|1"
  "--[a-z]|trace|9"
  "--[a-z]|apps|2"
  "--[a-z]|apps/report|18"
  "foretrace [a-z]+|trace|4"
  "foretrace [a-z]+|models|4"
  "foretrace [a-z]+|apps|8"
  "foretrace [a-z]+|apps/report|3")

set(bad 0)
macro(count_texts word)
  # A comment is no text; nor is a name, which has no blank.
  file(STRINGS ${ROOT}/${file} lines REGEX "${word}")
  foreach(line IN LISTS lines)
    if(line MATCHES "^ *(//|/[*]|[*])")
      continue()
    endif()
    string(REPLACE "\\\"" "'" line "${line}")
    if(file MATCHES "js$")
      string(REGEX MATCHALL "\"[^\"]*\"|`[^`]*`|'[^']*'" texts "${line}")
    else()
      string(REGEX MATCHALL "\"[^\"]*\"" texts "${line}")
    endif()
    foreach(text IN LISTS texts)
      if(text MATCHES " " AND text MATCHES "[^A-Za-z_-](${word})${end}")
        math(EXPR n_${room} "${n_${room}} + 1")
        string(APPEND where_${room} "\n  ${file}: ${text}")
      endif()
    endforeach()
  endforeach()
endmacro()

foreach(folder sim trace models apps)
  file(GLOB_RECURSE some RELATIVE ${ROOT} ${ROOT}/${folder}/*.h ${ROOT}/${folder}/*.cpp ${ROOT}/${folder}/*.mjs ${ROOT}/${folder}/*.js)
  list(APPEND files ${some})
endforeach()
list(LENGTH files count)
if(count EQUAL 0)
  message(FATAL_ERROR "no sources found under ${ROOT}")
endif()
foreach(rule IN LISTS rules typed)
  string(REGEX MATCH "^(.*)\\|([^|]*)$" whole "${rule}")
  set(word "${CMAKE_MATCH_1}")
  set(instead "${CMAKE_MATCH_2}")
  set(is_typed FALSE)
  set(end "[^A-Za-z_]")
  if(rule IN_LIST typed)
    set(is_typed TRUE)
    set(end "")
  endif()
  foreach(room sim trace models apps apps/report)
    set(n_${room} 0)
    set(where_${room} "")
  endforeach()
  foreach(file IN LISTS files)
    if(is_typed AND file MATCHES "^apps/cli/")
      continue()
    endif()
    string(REGEX MATCH "^(apps/report|[a-z]+)" room ${file})
    count_texts("${word}")
  endforeach()
  foreach(room sim trace models apps apps/report)
    set(allowed 0)
    foreach(row IN LISTS left)
      string(REGEX MATCH "^(.*)\\|([a-z/]+)\\|([0-9]+)$" whole "${row}")
      if(CMAKE_MATCH_1 STREQUAL word AND CMAKE_MATCH_2 STREQUAL room)
        set(allowed ${CMAKE_MATCH_3})
      endif()
    endforeach()
    if(PRINT AND n_${room})
      message("  \"${word}|${room}|${n_${room}}\"")
    elseif(n_${room} GREATER allowed)
      message("'${word}' in ${n_${room}} texts of ${room}, expected at most ${allowed}: say ${instead}${where_${room}}")
      math(EXPR bad "${bad} + 1")
    elseif(n_${room} LESS allowed)
      message("'${word}' in ${n_${room}} texts of ${room}: lower its number in tests/english.cmake, which is ${allowed}")
      math(EXPR bad "${bad} + 1")
    endif()
  endforeach()
endforeach()
if(bad)
  message(FATAL_ERROR "${bad} words of .github/WORDS.md")
endif()
message("texts of ${count} files keep to .github/WORDS.md")
