# No path of one machine, no mark of unfinished work and no line that was replaced in the tree, one conversion of real numbers to
# whole ones in the sources, and a way through the house that is there: cmake -DROOT=... -P words.cmake
cmake_minimum_required(VERSION 3.25)

# Put together, so that this file does not find itself.
set(unfinished "(^|[^A-Za-z_])(TO" "DO|FIX" "ME|XX" "X|HA" "CK|not imple" "mented|unimple" "mented)([^A-Za-z_]|$)")
list(JOIN unfinished "" unfinished)
set(machine "(^|[^A-Za-z0-9_.])/(ro" "ot|ho" "me|wo" "rk|Us" "ers)/[A-Za-z.]")
list(JOIN machine "" machine)

# Lines of users that were replaced by better ones do not come back.
string(JOIN "|" replaced "its times hold the profiler" "which a step time cannot tell" "no step time tells it" "need a parameter, [0-9{]"
  "could give: how much" "if the (device|host) took no time: the span" "no line: the one through" "is applied twice to the same,"
  "the Origin is another" "that are there at once" "what lies between them takes" "the host does what it did"
  "Take away host stalls" "One that was not found everywhere" "Not everything here is blind"
  "which predictions are blind and which not" "constants of the ranges were set on them"
  "tensors follow from the shapes of [0-9{]" "a wider terminal, or --csv" "ms, the events say" "launches are held up"
  "nothing here gains time" "of it host work" "goes with --rank-all" "that is not to be had" "it is no collector"
  "by somebody else meanwhile" "say nothing beside the program" "picture of who ran where" "what became of every job"
  "plan of stages that are alike" "as long as the traces say" "is the file's word" "no request ever waits" "the least that was found"
  "tells what else is assumed" "times the work of one: [{0-9]" "no way to give it a duration" "accelerator of the recording is not known"
  "the name says no format" "is no message, reading stopped" "is no JSON, reading stopped" "give one of those it lists"
  "and give the plain file" "stands alone, expected" "whatif: give --apply" "takes it as a file" "compute all of them anew"
  "what it says needs a limit" "which is taken to grow" "has no place for them, they" "goes on where it was cut off"
  "every task stays as it is[^ a-z]" "that does not tell its layers" "simulate takes it[)]" "by which the recorded steps scatter"
  "is read too[{,]" "with what its host takes" "of benchmarks that do not say" "of logs that do not name their"
  "that those ranks are on" "requests at a time tell it" "cache that the engine told" "the cache that it told" "FILE keeps the (engine|machine)"
  "what these print" "how many, node by node" "\"a model of one's own" "HTML file that needs nothing else" "the engine behind the page"
  "which the run then is on" "kernels that are no copies" "From the begin of (a step|the call to its first)" "W on the mean; [{]" "for everybody;" "for want of a cost"
  "no (task|tensor|step) takes less than no" "next ten says what becomes" "beside each, on its stream or thread; takes" "stands for each, or for each"
  "as long as they were together or as" "How often each is there" "those that no edit names" "merge and replace take for one"
  "range is taken along" "and have its network for themselves" "time, waiting for ranks that are not recorded goes" "Gradients go together" "how often a step does the"
  "tensors of tasks that come or go" "this is for its author to say" "update kernels go[^a-z]" "meet it at their next" "that memory has [(]a cache"
  "workers stand at even distances" "in which no cache has anything" "maps leave and return" "and return over the recorded window"
  "cost what they cost, so" "wants a part of the sum" "an all-gather gets everybody" "names a block on the way" "young devices are worse" "may take a time of the table"
  "what guesses tokens ahead" "tasks wait for each other in a circle")

set(bad 0)
macro(look pattern why)
  file(STRINGS ${ROOT}/${file} lines REGEX "${pattern}")
  foreach(line IN LISTS lines)
    message("${file}: ${why}: ${line}")
    math(EXPR bad "${bad} + 1")
  endforeach()
endmacro()

set(files CMakeLists.txt CMakePresets.json Makefile)
foreach(file README.md CONTRIBUTING.md CHANGELOG.md .github/SECURITY.md .github/HOUSE.md .github/WORDS.md)
  if(EXISTS ${ROOT}/${file})
    list(APPEND files ${file})
  endif()
endforeach()
foreach(folder .ci sim trace models configs apps tests examples)
  file(GLOB_RECURSE found RELATIVE ${ROOT} ${ROOT}/${folder}/*.h ${ROOT}/${folder}/*.cpp ${ROOT}/${folder}/*.cmake
    ${ROOT}/${folder}/CMakeLists.txt ${ROOT}/${folder}/*.md ${ROOT}/${folder}/*.sh ${ROOT}/${folder}/*.py
    ${ROOT}/${folder}/*.json)
  list(APPEND files ${found})
endforeach()
foreach(file IN LISTS files)
  look("${machine}" "path of one machine")
  if(NOT file MATCHES "^(CHANGELOG|.github/WORDS).md$|^tests/words.cmake$")
    look("${replaced}" "a line with a better one in .github/WORDS.md")
    look("examples/([0-2][0-9]_[a-z]|(sweeps|ci_gate|how_right|memory)/)" "a former name, see the folders of examples")
  endif()
  if(NOT file MATCHES "\\.(md|json)$")
    look("${unfinished}" "mark of unfinished work")
  endif()
  if(file MATCHES "^(sim|trace|models|apps)/" AND NOT file STREQUAL "sim/core/whole.h")
    look("std::ll?round[(]" "a conversion of its own, expected to_whole() or to_count() of sim/core/whole.h")
  endif()
endforeach()

# The way through the house names files and folders that are there.
file(READ ${ROOT}/.github/HOUSE.md house)
string(REGEX MATCHALL "`(sim|trace|models|apps|configs|tests)/[A-Za-z0-9_./-]+`" paths "${house}")
foreach(path IN LISTS paths)
  string(REPLACE "`" "" path "${path}")
  if(NOT EXISTS ${ROOT}/${path})
    message(".github/HOUSE.md: ${path} is not there")
    math(EXPR bad "${bad} + 1")
  endif()
endforeach()

list(LENGTH files count)
if(bad)
  message(FATAL_ERROR "${bad} lines in ${count} files")
endif()
message("${count} files are clean")
