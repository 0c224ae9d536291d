// Parses what-ifs from the command line; the JSON form is in what_if_json.cpp.
#include "models/whatifs/what_if_spec.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "models/whatifs/edit_params.h"

namespace foretrace {
namespace {

/// What-ifs are known by what their parameters mean, not by name. One has each meaning.
const WhatIfInfo& the_one_with(const ParamInfo* WhatIfInfo::*parameter) {
  const auto all = what_ifs::all();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const WhatIfInfo* info) { return info->*parameter != nullptr; });
  FORETRACE_CHECK(found != all.end());
  return **found;
}

}  // namespace

Result<WhatIfSpec> parse_what_if(std::string_view text) {
  return parse_named_settings("what-if", text);
}

Result<std::vector<WhatIfSpec>> parse_stack(const std::vector<std::string>& arguments) {
  std::vector<WhatIfSpec> stack;
  for (const std::string& argument : arguments) {
    const bool is_file = argument.starts_with('@');
    if (argument == "@") {
      return Error{ErrorCode::bad_usage, "what-if: got '@' without a file, expected @FILE.json"};
    }
    if (is_file || argument.starts_with('{') || argument.starts_with('[')) {
      FORETRACE_TRY(std::vector<WhatIfSpec> read, is_file
                                                      ? read_what_ifs(argument.substr(1))
                                                      : parse_what_ifs_json(argument, "what-if"));
      std::move(read.begin(), read.end(), std::back_inserter(stack));
      continue;
    }
    FORETRACE_TRY(WhatIfSpec spec, parse_what_if(argument));
    stack.push_back(std::move(spec));
  }
  return stack;
}

WhatIfSpec swap_to(const std::string& accelerator) {
  const WhatIfInfo& info = the_one_with(&WhatIfInfo::accelerator_param);
  return {std::string(info.name), {{std::string(info.accelerator_param->name), accelerator}}};
}

Result<WhatIfSpec> spread_over(const std::string& parallel, const std::string& cluster) {
  constexpr std::string_view recorded = "recorded";
  std::string settings = parallel;
  if (settings == recorded || settings.starts_with(std::string(recorded) + ",")) {
    settings.insert(recorded.size(), "=true");
  }
  FORETRACE_TRY(WhatIfSpec spec, parse_what_if("parallel:" + settings));
  if (!cluster.empty()) {
    spec.parameters.emplace_back("cluster", cluster);
  }
  return spec;
}

WhatIfSpec resize_batch(double factor) {
  const WhatIfInfo& info = the_one_with(&WhatIfInfo::batch_param);
  return {std::string(info.name),
          {{std::string(info.batch_param->name), fmt::format("{}", factor)}}};
}

Result<const WhatIfInfo*> find_what_if(std::string_view name) {
  std::vector<std::string_view> names;
  for (const WhatIfInfo* const info : what_ifs::all()) {
    if (info->name == name) {
      return info;
    }
    names.push_back(info->name);
  }
  return Error{ErrorCode::not_found,
               fmt::format("unknown what-if '{}'{}; foretrace list optimizations names all", name,
                           did_you_mean(name, names))};
}

Result<WhatIf> check_what_if(const WhatIfSpec& spec) {
  FORETRACE_TRY(auto* const found, find_what_if(spec.name));
  FORETRACE_TRY(ParamValues values, ParamValues::parse(spec.name, found->params, spec.parameters));
  if (found->name == edits::name) FORETRACE_TRY(edits::primitive_of(values));
  return WhatIf{found, std::move(values)};
}

namespace {

/// The selections that a what-if was given, which say what it acts on.
std::vector<std::string> selections_of(const WhatIf& what_if) {
  std::vector<std::string> selections;
  for (const ParamInfo& row : what_if.info->params) {
    if (row.type == ParamType::selection) {
      selections.push_back(what_if.parameters.text(row));
    }
  }
  return selections;
}

/// Edits follow each other, each on what those before it made.
bool acts_on_the_same(const WhatIf& a, const WhatIf& b) {
  return a.info == b.info && a.info->name != edits::name && selections_of(a) == selections_of(b);
}

}  // namespace

bool in_conflict(const WhatIfInfo& a, const WhatIfInfo& b) {
  const auto names = [](const WhatIfInfo& one, const WhatIfInfo& other) {
    return std::find(one.conflicts.begin(), one.conflicts.end(), other.name) != one.conflicts.end();
  };
  return names(a, b) || names(b, a);
}

Result<std::vector<WhatIf>> check_stack(std::span<const WhatIfSpec> specs) {
  std::vector<WhatIf> stack;
  stack.reserve(specs.size());
  for (const WhatIfSpec& spec : specs) {
    FORETRACE_TRY(WhatIf what_if, check_what_if(spec));
    const auto same = [&](const WhatIf& earlier) { return acts_on_the_same(earlier, what_if); };
    if (std::any_of(stack.begin(), stack.end(), same)) {
      return Error{ErrorCode::bad_usage,
                   fmt::format("{}: given twice for the same tasks; give it once", spec.name)};
    }
    const auto other = std::find_if(stack.begin(), stack.end(), [&](const WhatIf& earlier) {
      return in_conflict(*earlier.info, *what_if.info);
    });
    if (other != stack.end()) {
      return Error{ErrorCode::bad_usage,
                   fmt::format("{} and {}: both change the same thing in different ways, expected "
                               "one of them; foretrace explain {} lists conflicts",
                               other->info->name, spec.name, spec.name)};
    }
    stack.push_back(std::move(what_if));
  }
  return stack;
}

bool comes_before(const WhatIfInfo& a, const WhatIfInfo& b) {
  return std::pair(a.stage, a.name) < std::pair(b.stage, b.name);
}

std::vector<WhatIf> in_order(std::span<const WhatIf> stack) {
  std::vector<WhatIf> ordered(stack.begin(), stack.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const WhatIf& a, const WhatIf& b) { return comes_before(*a.info, *b.info); });
  return ordered;
}

Result<std::vector<WhatIf>> stack_of(const std::vector<std::string>& arguments) {
  FORETRACE_TRY(const std::vector<WhatIfSpec> specs, parse_stack(arguments));
  return check_stack(specs);
}

}  // namespace foretrace
