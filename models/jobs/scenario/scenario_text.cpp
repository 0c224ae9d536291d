#include "models/jobs/scenario/scenario_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/jobs/scenario/job_fields.h"
#include "models/jobs/scenario/scenario.h"

namespace foretrace {
namespace {

using Json = nlohmann::ordered_json;

/// Writes the fields of a job that do not have their usual values, and those that are stated
/// always.
class FieldWriter {
 public:
  explicit FieldWriter(Json& object, std::vector<std::string_view> stated = {})
      : object_(object), stated_(std::move(stated)) {}

  template <typename Number>
  void count(std::string_view key, const Number& value, double /*most*/) {
    set(key, static_cast<std::uint64_t>(value));
  }
  template <typename Number>
  void count(std::string_view key, const Number& value, double most, Number usual) {
    if (is_stated(key, value, usual)) count(key, value, most);
  }
  void whole(std::string_view key, double value, double most, double usual) {
    count(key, value, most, usual);
  }
  void bytes(std::string_view key, double value, double /*most*/, double usual) {
    if (is_stated(key, value, usual)) set(key, fmt::format("{} B", value));
  }
  void flag(std::string_view key, bool value, bool usual) {
    if (is_stated(key, value, usual)) set(key, value);
  }
  template <typename Enum, std::size_t Count>
  void word(std::string_view key, Enum value, const std::array<std::string_view, Count>& words,
            Enum usual) {
    if (is_stated(key, value, usual)) set(key, words[static_cast<std::size_t>(value)]);
  }
  void share(std::string_view key, double value) { set(key, value); }
  void share(std::string_view key, double value, double usual) {
    if (is_stated(key, value, usual)) set(key, value);
  }
  void schedule(std::string_view key, const ScheduleInfo* value) { set(key, value->name); }
  void precisions(std::string_view key, const Precisions& value) {
    if (is_stated(key, word_of(value), job_fields::usual_precision)) set(key, word_of(value));
  }

 private:
  template <typename Value>
  [[nodiscard]] bool is_stated(std::string_view key, const Value& value, const Value& usual) const {
    return value != usual || std::find(stated_.begin(), stated_.end(), key) != stated_.end();
  }
  template <typename Value>
  void set(std::string_view key, const Value& value) {
    object_[std::string(key)] = value;
  }

  Json& object_;
  std::vector<std::string_view> stated_;
};

Json parallelism_of(Job& job) {
  ParallelPlan usual = unstated_plan(*job.model);
  if (usual.expert_tensor == 0) usual.expert_tensor = usual_expert_tensor(job.plan, *job.model);
  usual.pipeline = unstated_pipeline(job);
  Json result = Json::object();
  FieldWriter writer(result, {"pipeline"});
  plan_fields(writer, job.plan, usual);
  for (StageShare& share : job.stages) {
    FieldWriter stage(result["stages"].emplace_back());
    stage_fields(stage, share,
                 {.recompute = share.has_own_ranks() ? job.recompute : Recompute::none});
  }
  return result;
}

}  // namespace

std::string scenario_text(Job job, const ScenarioNames& names, std::string_view what_ifs) {
  Json root;
  root["schema"] = scenario_schema;
  root["workload"]["model"] = names.model;
  FieldWriter workload(root["workload"], job.has_samples()
                                             ? std::vector<std::string_view>{}
                                             : std::vector<std::string_view>{"sequence"});
  workload_fields(workload, job, *job.model);
  root["cluster"] = names.cluster;
  root["framework"] = names.framework;
  Json others;
  FieldWriter other(others, {"precision", "recompute"});
  other_fields(other, job);
  root["precision"] = others["precision"];
  root["parallelism"] = parallelism_of(job);
  FieldWriter schedule(root["schedule"]);
  schedule_fields(schedule, job);
  FieldWriter batch(root["batch"], {"micro"});
  batch_fields(batch, job);
  root["recompute"] = others["recompute"];
  if (job.sparse_gradients) {
    FieldWriter sum(root["sparse_gradients"]);
    sum_fields(sum, *job.sparse_gradients);
  }
  if (!what_ifs.empty()) root["what_ifs"] = Json::parse(what_ifs, nullptr, false);
  return root.dump(2) + "\n";
}

}  // namespace foretrace
