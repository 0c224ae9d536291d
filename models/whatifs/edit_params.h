// What can be said of the what-if `edit`: tasks, one primitive, and what that needs to know.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "sim/core/params.h"
#include "sim/core/result.h"

namespace foretrace::edits {

inline constexpr std::string_view name = "edit";

inline constexpr ParamInfo select_param = {.name = "select",
                                           .type = ParamType::selection,
                                           .doc =
                                               "Which tasks, e.g. 'kind=kernel&name~gemm'. One of "
                                               "the next ten keys says what to do with them."};

// ---- Primitives: one of them is given -----------------------------------------------------------

inline constexpr ParamInfo scale_param = {
    .name = "scale",
    .unit = "x",
    .default_text = "-",
    .doc = "New time / old time of each: 0.5 is twice as fast, 0 removes the work.",
    .minimum = 0,
    .maximum = 1e4};
inline constexpr ParamInfo insert_param = {
    .name = "insert",
    .type = ParamType::text,
    .default_text = "-",
    .doc = "Insert a task of this name beside each, on its stream or thread; needs a duration."};
inline constexpr ParamInfo remove_param = {
    .name = "remove",
    .type = ParamType::boolean,
    .default_text = "-",
    .doc = "Remove them, with calls whose work is all removed, and work whose call is removed."};
inline constexpr ParamInfo replace_param = {
    .name = "replace",
    .type = ParamType::text,
    .default_text = "-",
    .doc = "Replace each, or each group, by one new task of this name; needs a duration."};
inline constexpr ParamInfo split_param = {.name = "split",
                                          .type = ParamType::integer,
                                          .unit = "1",
                                          .default_text = "-",
                                          .doc = "Split each into this many parts in a row.",
                                          .minimum = 1,
                                          .maximum = 1e5};
inline constexpr ParamInfo merge_param = {
    .name = "merge",
    .type = ParamType::boolean,
    .default_text = "-",
    .doc = "Merge the tasks of a group into one, as long as their sum or as duration says."};
inline constexpr ParamInfo move_param = {
    .name = "move",
    .type = ParamType::text,
    .default_text = "-",
    .doc = "Move them to another stream (thread) of their device (rank): its number, or new."};
inline constexpr ParamInfo replicate_param = {
    .name = "replicate",
    .type = ParamType::integer,
    .unit = "1",
    .default_text = "-",
    .doc = "Number of copies of each afterwards: 1 changes nothing.",
    .minimum = 1,
    .maximum = 1e4};
inline constexpr ParamInfo reorder_param = {
    .name = "reorder",
    .type = ParamType::selection,
    .default_text = "-",
    .doc =
        "Move them, in each step, behind the tasks that this selects (or before, see place). "
        "Several selections, separated by ';', are the order in which the selected tasks follow "
        "each other on their stream or thread."};
inline constexpr ParamInfo prioritize_param = {
    .name = "prioritize",
    .type = ParamType::integer,
    .unit = "1",
    .default_text = "-",
    .doc =
        "Their priority: of the ready tasks of a stream or thread the smallest runs first; the "
        "default is 0.",
    .minimum = -1e9,
    .maximum = 1e9};

// ---- What a primitive needs to know -------------------------------------------------------------

inline constexpr ParamInfo duration_param = {
    .name = "duration",
    .type = ParamType::time,
    .unit = "us",
    .default_text = "-",
    .doc = "Time of a task that insert, replace or merge creates.",
    .minimum = 0,
    .maximum = 1e15};
inline constexpr ParamInfo kind_param = {
    .name = "kind",
    .type = ParamType::text,
    .default_text = "-",
    .doc =
        "Kind of a device task that insert or replace creates; left out: that of the selected one.",
    .choices = "kernel|copy|set"};
inline constexpr ParamInfo place_param = {
    .name = "place",
    .type = ParamType::text,
    .default_text = "-",
    .doc = "before or after, for insert and reorder; left out: after.",
    .choices = "before|after"};
inline constexpr ParamInfo call_param = {
    .name = "call",
    .type = ParamType::time,
    .unit = "us",
    .default_text = "-",
    .doc =
        "Host time of the call of each new piece of device work. Left out: insert and replace use "
        "that of the selected task, split needs no further calls.",
    .minimum = 0,
    .maximum = 1e15};
inline constexpr ParamInfo gap_param = {
    .name = "gap",
    .type = ParamType::time,
    .unit = "us",
    .default_text = "-",
    .doc = "Gap before each task that insert, replace or split creates; left out: 0.",
    .minimum = 0,
    .maximum = 1e15};
inline constexpr ParamInfo of_param = {
    .name = "of",
    .type = ParamType::text,
    .default_text = "-",
    .doc =
        "What scale acts on: the task (left out), the segment (host time, or gap) before it, or "
        "both.",
    .choices = "duration|segment|both"};
inline constexpr ParamInfo group_param = {
    .name = "group",
    .type = ParamType::text,
    .default_text = "-",
    .doc =
        "What merge and replace treat as one: each task, neighbours (selected tasks of a stream "
        "with nothing between them), or all of a stream in a step. Left out: neighbours for merge, "
        "each for replace.",
    .choices = "each|neighbours|step"};
inline constexpr ParamInfo onto_param = {.name = "onto",
                                         .type = ParamType::text,
                                         .default_text = "-",
                                         .doc =
                                             "Where replicate puts copies; left out: same_lanes, "
                                             "behind the selected tasks.",
                                         .choices = "same_lanes|new_lanes|new_ranks"};
inline constexpr ParamInfo label_param = {.name = "label",
                                          .type = ParamType::text,
                                          .default_text = "-",
                                          .doc = "Purpose of the edit, shown in the answer."};

inline constexpr std::array params = {
    select_param,     scale_param,    insert_param, remove_param,    replace_param,
    split_param,      merge_param,    move_param,   replicate_param, reorder_param,
    prioritize_param, duration_param, kind_param,   place_param,     call_param,
    gap_param,        of_param,       group_param,  onto_param,      label_param};

/// The primitive that is given. Errors: none or several, one that lacks what it needs, and what
/// says nothing of it; selections that do not parse.
[[nodiscard]] Result<const ParamInfo*> primitive_of(const ParamValues& values);

/// "a; b" of `reorder` as [a, b]; a ';' in '...' separates nothing.
[[nodiscard]] std::vector<std::string_view> selections_in(std::string_view text);

}  // namespace foretrace::edits
