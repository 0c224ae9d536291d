// Parses what-ifs from the command line; the JSON form is in what_if_json.cpp.
#include "models/whatifs/what_if_spec.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace foretrace::driver {
namespace {

/// What-ifs are known by what their parameters mean, not by name. One has each meaning.
const OptimizationInfo& the_one_with(const ParamInfo* OptimizationInfo::*parameter) {
  const auto all = optimizations::all();
  const auto found = std::find_if(all.begin(), all.end(), [&](const OptimizationInfo* info) {
    return info->*parameter != nullptr;
  });
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
    if (!argument.empty() && argument[0] == '@') {
      Result<std::vector<WhatIfSpec>> read = read_what_ifs(argument.substr(1));
      if (!read.ok()) {
        return read.error();
      }
      std::move(read->begin(), read->end(), std::back_inserter(stack));
      continue;
    }
    Result<WhatIfSpec> spec = parse_what_if(argument);
    if (!spec.ok()) {
      return spec.error();
    }
    stack.push_back(*std::move(spec));
  }
  return stack;
}

WhatIfSpec swap_to(const std::string& accelerator) {
  const OptimizationInfo& info = the_one_with(&OptimizationInfo::accelerator_param);
  return {std::string(info.name), {{std::string(info.accelerator_param->name), accelerator}}};
}

Result<WhatIfSpec> spread_over(const std::string& parallel, const std::string& cluster) {
  constexpr std::string_view recorded = "recorded";
  std::string settings = parallel;
  if (settings == recorded || settings.starts_with(std::string(recorded) + ",")) {
    settings.insert(recorded.size(), "=true");
  }
  Result<WhatIfSpec> spec = parse_what_if("parallel:" + settings);
  if (!spec.ok()) {
    return spec.error();
  }
  if (!cluster.empty()) {
    spec->parameters.emplace_back("cluster", cluster);
  }
  return spec;
}

WhatIfSpec resize_batch(double factor) {
  const OptimizationInfo& info = the_one_with(&OptimizationInfo::batch_param);
  return {std::string(info.name),
          {{std::string(info.batch_param->name), fmt::format("{}", factor)}}};
}

Result<const OptimizationInfo*> find_optimization(std::string_view name) {
  std::vector<std::string_view> names;
  for (const OptimizationInfo* const optimization : optimizations::all()) {
    if (optimization->name == name) {
      return optimization;
    }
    names.push_back(optimization->name);
  }
  return Error{ErrorCode::not_found,
               fmt::format("unknown optimization '{}'{}; foretrace list optimizations names all",
                           name, did_you_mean(name, names))};
}

Result<WhatIf> check_what_if(const WhatIfSpec& spec) {
  const Result<const OptimizationInfo*> found = find_optimization(spec.name);
  if (!found.ok()) {
    return found.error();
  }
  Result<ParamValues> values = ParamValues::parse(spec.name, (*found)->params, spec.parameters);
  if (!values.ok()) {
    return values.error();
  }
  return WhatIf{*found, *std::move(values)};
}

namespace {

/// The selections that a what-if was given, which say what it acts on.
std::vector<std::string> selections_of(const WhatIf& what_if) {
  std::vector<std::string> selections;
  for (const ParamInfo& row : what_if.optimization->params) {
    if (row.type == ParamType::selection) {
      selections.push_back(what_if.parameters.text(row));
    }
  }
  return selections;
}

bool acts_on_the_same(const WhatIf& a, const WhatIf& b) {
  return a.optimization == b.optimization && selections_of(a) == selections_of(b);
}

}  // namespace

bool in_conflict(const OptimizationInfo& a, const OptimizationInfo& b) {
  const auto names = [](const OptimizationInfo& one, const OptimizationInfo& other) {
    return std::find(one.conflicts.begin(), one.conflicts.end(), other.name) != one.conflicts.end();
  };
  return names(a, b) || names(b, a);
}

Result<std::vector<WhatIf>> check_stack(std::span<const WhatIfSpec> specs) {
  std::vector<WhatIf> stack;
  stack.reserve(specs.size());
  for (const WhatIfSpec& spec : specs) {
    Result<WhatIf> what_if = check_what_if(spec);
    if (!what_if.ok()) {
      return what_if.error();
    }
    const auto same = [&](const WhatIf& earlier) { return acts_on_the_same(earlier, *what_if); };
    if (std::any_of(stack.begin(), stack.end(), same)) {
      return Error{ErrorCode::bad_usage,
                   fmt::format("{}: is applied twice to the same, expected it once", spec.name)};
    }
    const auto other = std::find_if(stack.begin(), stack.end(), [&](const WhatIf& earlier) {
      return in_conflict(*earlier.optimization, *what_if->optimization);
    });
    if (other != stack.end()) {
      return Error{ErrorCode::bad_usage,
                   fmt::format("{} and {}: both change the same in another way, expected one of "
                               "them; foretrace explain {} names what does not go together",
                               other->optimization->name, spec.name, spec.name)};
    }
    stack.push_back(*std::move(what_if));
  }
  return stack;
}

bool comes_before(const OptimizationInfo& a, const OptimizationInfo& b) {
  return std::pair(a.stage, a.name) < std::pair(b.stage, b.name);
}

std::vector<WhatIf> in_order(std::span<const WhatIf> stack) {
  std::vector<WhatIf> ordered(stack.begin(), stack.end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const WhatIf& a, const WhatIf& b) {
    return comes_before(*a.optimization, *b.optimization);
  });
  return ordered;
}

Result<std::vector<WhatIf>> stack_of(const std::vector<std::string>& arguments) {
  const Result<std::vector<WhatIfSpec>> specs = parse_stack(arguments);
  if (!specs.ok()) {
    return specs.error();
  }
  return check_stack(*specs);
}

}  // namespace foretrace::driver
