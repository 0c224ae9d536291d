#include "models/hardware/execution/exec_model.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace foretrace {
namespace {

const ExecModelInfo* exec_info(std::string_view name) {
  for (const ExecModelInfo* info : exec_models::all()) {
    if (info->name == name) return info;
  }
  return nullptr;
}

Error wrong_exec(const std::string& what) { return Error{ErrorCode::bad_config, what}; }

Error unknown_exec(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ExecModelInfo* info : exec_models::all()) names.push_back(info->name);
  return wrong_exec(fmt::format("got {}{}, expected some of {}", in_quotes(name),
                                did_you_mean(name, names), fmt::join(names, ", ")));
}

std::string machines_text() {
  std::vector<std::string_view> names;
  for (const ExecModelInfo* info : exec_models::all()) {
    if (info->time != nullptr) names.push_back(info->name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Status ExecModel::add(std::string_view name, const ConfigValue& params) {
  const ExecModelInfo* const info = exec_info(name);
  if (info == nullptr) return unknown_exec(name);
  if (params.kind != ConfigValue::Kind::object) {
    return wrong_exec(
        fmt::format("{}: {}, expected an object of its parameters", name, params.described()));
  }
  auto part = std::find_if(parts_.begin(), parts_.end(),
                           [&](const Part& known) { return known.info == info; });
  if (part == parts_.end()) {
    parts_.push_back({info, {}, {}});
    part = parts_.end() - 1;
  }
  for (std::size_t i = 0; i < params.keys.size(); ++i) {
    const ConfigValue& item = params.items[i];
    if (item.kind != ConfigValue::Kind::number && item.kind != ConfigValue::Kind::text &&
        item.kind != ConfigValue::Kind::boolean) {
      return wrong_exec(fmt::format("{}: parameter '{}': {}, expected a number or a text", name,
                                    params.keys[i], item.described()));
    }
    const auto known = std::find_if(part->given.begin(), part->given.end(),
                                    [&](const auto& row) { return row.first == params.keys[i]; });
    if (known != part->given.end()) {
      known->second = item.text;
    } else {
      part->given.emplace_back(params.keys[i], item.text);
    }
  }
  auto values = ParamValues::parse(name, info->params, part->given);
  if (!values.ok()) return wrong_exec(values.error().message);
  part->values = *std::move(values);
  if (info->check == nullptr) return ok_status();
  if (Status fine = info->check(part->values); !fine.ok()) {
    return wrong_exec(fmt::format("{}: {}", name, fine.error().message));
  }
  return ok_status();
}

Status ExecModel::finish() {
  std::size_t machines = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].info->time == nullptr) continue;
    machine_ = i;
    ++machines;
  }
  if (machines == 1) return ok_status();
  return wrong_exec(fmt::format("got {} machines, expected one of {}", machines, machines_text()));
}

Result<ExecModel> ExecModel::read(const ConfigValue& object) {
  return ExecModel().changed_by(object);
}

Result<ExecModel> ExecModel::changed_by(const ConfigValue& object) const {
  ExecModel changed = *this;
  for (std::size_t i = 0; i < object.keys.size(); ++i) {
    FORETRACE_TRY(changed.add(object.keys[i], object.items[i]));
  }
  FORETRACE_TRY(changed.finish());
  return changed;
}

ExecTime ExecModel::time(const ExecDevice& device, ExecWorkload workload, OperatorWork work) const {
  const double width = work.number_bytes;
  for (const Part& part : parts_) {
    if (part.info->change_work != nullptr) part.info->change_work(part.values, work);
  }
  // What makes numbers narrower makes those of all weights narrower.
  workload.weight_bytes *= work.number_bytes / width;
  ExecTime time = machine().time(parts_[machine_].values, device, work);
  for (const Part& part : parts_) {
    if (part.info->change_time == nullptr) continue;
    part.info->change_time(part.values, workload, work, time);
  }
  return time;
}

double ExecModel::of_machine(const ParamInfo* row) const {
  return row == nullptr ? 0 : parts_[machine_].values.number(*row);
}

double ExecModel::start_ns() const { return of_machine(machine().start); }
double ExecModel::weight_store() const { return of_machine(machine().weight_store); }
double ExecModel::store_taken() const { return of_machine(machine().store_taken); }
double ExecModel::memory_taken() const { return of_machine(machine().memory_taken); }

std::vector<ExecModel::PartTexts> ExecModel::parts() const {
  std::vector<PartTexts> all;
  all.push_back({machine().name, parts_[machine_].values.texts()});
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (i != machine_) all.push_back({parts_[i].info->name, parts_[i].values.texts()});
  }
  return all;
}

std::string ExecModel::text() const {
  std::string text;
  for (const PartTexts& part : parts()) {
    text += fmt::format("{}{} (", text.empty() ? "" : "; ", part.name);
    for (std::size_t i = 0; i < part.params.size(); ++i) {
      text +=
          fmt::format("{}{} {}", i == 0 ? "" : ", ", part.params[i].first, part.params[i].second);
    }
    text += ")";
  }
  return text;
}

}  // namespace foretrace
