#include "apps/questions/search/choices.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apps/questions/search/ranking.h"

namespace foretrace {
namespace {

/// "steps=2;batch_size:factor=0.5" of gradient_accumulation, as a stack is written.
std::vector<std::string> texts_of(const WhatIfInfo& info, std::string_view setting) {
  std::vector<std::string> texts;
  const std::string_view own = setting.substr(0, setting.find(';'));
  texts.push_back(fmt::format("{}{}{}", info.name, own.empty() ? "" : ":", own));
  while (setting.find(';') != std::string_view::npos) {
    setting.remove_prefix(setting.find(';') + 1);
    texts.emplace_back(setting.substr(0, setting.find(';')));
  }
  return texts;
}

Result<WhatIfChoice> choice_of(const WhatIfInfo& info, std::string_view setting) {
  WhatIfChoice choice{&info, texts_of(info, setting), {}};
  FORETRACE_TRY(choice.parts, stack_of(choice.texts));
  return choice;
}

}  // namespace

Result<std::vector<WhatIfChoice>> all_choices(TriedSettings settings) {
  std::vector<WhatIfChoice> choices;
  for (const WhatIfInfo* const info : what_ifs::all()) {
    if (info->basis == Basis::formula) continue;
    std::vector<std::string_view> tried;
    const bool has_defaults =
        std::none_of(info->params.begin(), info->params.end(),
                     [](const ParamInfo& param) { return param.default_text.empty(); });
    if (has_defaults) {
      tried.emplace_back("");
    }
    if (settings == TriedSettings::also_for_memory) {
      tried.insert(tried.end(), info->memory_settings.begin(), info->memory_settings.end());
    }
    for (const std::string_view setting : tried) {
      Result<WhatIfChoice> choice = choice_of(*info, setting);
      if (!choice.ok()) {
        return Error(choice.error()).with_context(fmt::format("settings of {}", info->name));
      }
      choices.push_back(*std::move(choice));
    }
  }
  std::stable_sort(
      choices.begin(), choices.end(),
      [](const WhatIfChoice& a, const WhatIfChoice& b) { return a.info->stage < b.info->stage; });
  return choices;
}

bool meets_stack(const WhatIfChoice& choice, std::span<const WhatIf> stack) {
  return std::any_of(stack.begin(), stack.end(), [&](const WhatIf& applied) {
    return std::any_of(choice.parts.begin(), choice.parts.end(), [&](const WhatIf& part) {
      return part.info == applied.info || in_conflict(*part.info, *applied.info);
    });
  });
}

ChoiceSteps::ChoiceSteps(std::span<const WhatIf> stack, std::span<const WhatIfChoice> choices)
    : stack_size_(stack.size()), steps_(stack.begin(), stack.end()) {
  for (const WhatIfChoice& choice : choices) {
    first_step_.push_back(steps_.size());
    steps_.insert(steps_.end(), choice.parts.begin(), choice.parts.end());
  }
  first_step_.push_back(steps_.size());
}

std::vector<std::size_t> ChoiceSteps::path_of(std::span<const std::size_t> choices) const {
  std::vector<std::size_t> path(stack_size_);
  std::iota(path.begin(), path.end(), std::size_t{0});
  for (const std::size_t choice : choices) {
    for (std::size_t step = first_step_[choice]; step < first_step_[choice + 1]; ++step) {
      path.push_back(step);
    }
  }
  std::stable_sort(path.begin(), path.end(), [&](std::size_t a, std::size_t b) {
    return comes_before(*steps_[a].info, *steps_[b].info);
  });
  return path;
}

std::vector<WhatIf> ChoiceSteps::what_ifs_of(std::span<const std::size_t> choices) const {
  std::vector<WhatIf> what_ifs;
  for (const std::size_t step : path_of(choices)) {
    what_ifs.push_back(steps_[step]);
  }
  return what_ifs;
}

}  // namespace foretrace
