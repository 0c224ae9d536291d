#include "models/whatifs/edit_params.h"

#include <algorithm>
#include <span>
#include <string>

#include <fmt/format.h>

#include "sim/edit/selection.h"

namespace foretrace::edits {
namespace {

constexpr std::array primitives = {
    &scale_param, &insert_param, &remove_param,    &replace_param, &split_param,
    &merge_param, &move_param,   &replicate_param, &reorder_param, &prioritize_param};

/// What a primitive needs to know, and of which primitives it says something.
struct Detail {
  const ParamInfo* row;
  std::array<const ParamInfo*, 3> of;  ///< null: nothing more
};
constexpr std::array details = {
    Detail{&duration_param, {&insert_param, &replace_param, &merge_param}},
    Detail{&kind_param, {&insert_param, &replace_param}},
    Detail{&place_param, {&insert_param, &reorder_param}},
    Detail{&call_param, {&insert_param, &replace_param, &split_param}},
    Detail{&gap_param, {&insert_param, &replace_param, &split_param}},
    Detail{&of_param, {&scale_param}},
    Detail{&group_param, {&merge_param, &replace_param}},
    Detail{&onto_param, {&replicate_param}}};

std::string names_of(std::span<const ParamInfo* const> rows) {
  std::string names;
  for (const ParamInfo* const row : rows) {
    if (row != nullptr) names.append(names.empty() ? "" : ", ").append(row->name);
  }
  return names;
}

Error wrong(std::string_view what) {
  return {ErrorCode::bad_usage, fmt::format("{}: {}", name, what)};
}

Status check_details(const ParamValues& values, const ParamInfo& primitive) {
  for (const Detail& detail : details) {
    if (!values.given(*detail.row)) continue;
    if (std::find(detail.of.begin(), detail.of.end(), &primitive) == detail.of.end()) {
      return wrong(fmt::format("'{}' does not use '{}', expected it with one of {}",
                               detail.row->name, primitive.name, names_of(detail.of)));
    }
  }
  const bool is_new = &primitive == &insert_param || &primitive == &replace_param;
  if (is_new && !values.given(duration_param)) {
    return wrong(fmt::format("'{}' needs 'duration', expected {}", primitive.name,
                             expectation(ParamType::time)));
  }
  if (is_new && values.text(primitive).empty()) {
    return wrong(fmt::format("'{}' is empty, expected the name of a task", primitive.name));
  }
  const bool is_flag = primitive.type == ParamType::boolean;
  if (is_flag && !values.boolean(primitive)) {
    return wrong(fmt::format("'{}' is false, expected true or another primitive", primitive.name));
  }
  return ok_status();
}

Status check_selections(const ParamValues& values) {
  FORETRACE_TRY(Selection::parse(values.text(select_param)).with_context("edit: 'select'"));
  if (!values.given(reorder_param)) return ok_status();
  const std::vector<std::string_view> listed = selections_in(values.text(reorder_param));
  for (const std::string_view one : listed) {
    FORETRACE_TRY(Selection::parse(one).with_context("edit: 'reorder'"));
  }
  if (listed.size() > 1 && values.given(place_param)) {
    return wrong("'place' does not apply to a list in 'reorder', expected it with one selection");
  }
  return ok_status();
}

}  // namespace

Result<const ParamInfo*> primitive_of(const ParamValues& values) {
  std::vector<const ParamInfo*> given;
  for (const ParamInfo* const row : primitives) {
    if (values.given(*row)) given.push_back(row);
  }
  if (given.size() != 1) {
    return wrong(fmt::format("got {}, expected one of {}",
                             given.empty() ? "no primitive" : names_of(given),
                             names_of(primitives)));
  }
  FORETRACE_TRY(check_details(values, *given.front()));
  FORETRACE_TRY(check_selections(values));
  return given.front();
}

std::vector<std::string_view> selections_in(std::string_view text) {
  std::vector<std::string_view> found;
  std::size_t begin = 0;
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\'') is_quoted = !is_quoted;
    if (text[i] != ';' || is_quoted) continue;
    found.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  found.push_back(text.substr(begin));
  return found;
}

}  // namespace foretrace::edits
