#include "apps/session/what_if_stack.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/session/changed_job.h"
#include "models/editing/parameters/model_state.h"
#include "models/hardware/catalogue/config_files.h"
#include "models/hardware/catalogue/imported_file.h"
#include "models/hardware/catalogue/same_device.h"
#include "models/hardware/costs/cost_table.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

void follow_factors(const std::vector<float>& added, const Committed& committed,
                    std::vector<float>& factors) {
  if (factors.empty() && added.empty()) return;
  std::vector<float> moved(committed.graph.size(), 1.0F);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const TaskId to = committed.new_id.empty() ? make_id<TaskId>(i) : committed.new_id[i];
    if (to != none<TaskId>) {
      moved[index(to)] = factors[i];
    }
  }
  for (std::size_t i = 0; i < added.size(); ++i) {
    moved[i] *= added[i];
  }
  factors = std::move(moved);
}

TaskGraph scaled(const TaskGraph& graph, const std::vector<float>& factors) {
  if (factors.empty()) return graph;
  Weights weights = graph.weights();
  auto durations = std::make_shared<std::vector<std::int64_t>>(*weights.duration_ns);
  for (std::size_t i = 0; i < durations->size(); ++i) {
    if (factors[i] != 1.0F) {
      (*durations)[i] =
          to_whole(static_cast<double>((*durations)[i]) * static_cast<double>(factors[i]));
    }
  }
  weights.duration_ns = std::move(durations);
  return graph.with_weights(std::move(weights));
}

/// Where the tasks of the next graph come from, if `origin` says it of the graph before.
void follow_origin(const Committed& committed, std::size_t size_before,
                   std::vector<TaskId>& origin) {
  if (committed.new_id.empty()) return;
  std::vector<TaskId> moved(committed.graph.size(), none<TaskId>);
  for (std::size_t i = 0; i < size_before; ++i) {  // behind them stand the inserted ones
    const TaskId to = committed.new_id[i];
    if (to != none<TaskId>) moved[index(to)] = origin.empty() ? make_id<TaskId>(i) : origin[i];
  }
  origin = std::move(moved);
}

/// A cluster file of another simulator; `find_cluster` reads it with the files that it names.
bool is_imported_cluster(const NamedFile& file) {
  if (file.folder != "clusters") return false;
  const auto read = read_imported_file(file.path);
  return read.ok() && read->document.find("schema") == nullptr;
}

/// Smaller goes first; tasks that are not listed have 0.
std::int32_t priority_of(const GraphContext& context, TaskId task) {
  const auto row =
      std::lower_bound(context.priorities.begin(), context.priorities.end(), task,
                       [](const TaskPriority& one, TaskId wanted) { return one.task < wanted; });
  return row != context.priorities.end() && row->task == task ? row->priority : 0;
}

/// Whether tasks wait as they did: lanes have their policies, tasks their priorities.
bool keeps_order(const GraphContext& was, const GraphContext& is, const Change& change) {
  return std::none_of(change.policies.begin(), change.policies.end(),
                      [&](const PolicyEdit& edit) {
                        return was.lanes[index(edit.lane)].policy !=
                               is.lanes[index(edit.lane)].policy;
                      }) &&
         std::none_of(change.priorities.begin(), change.priorities.end(),
                      [&](const PriorityEdit& edit) {
                        return priority_of(was, edit.task) != priority_of(is, edit.task);
                      });
}

/// Whether tensors are as large as they were, in what is asked for and in what is taken, and
/// parameters are what they were.
bool keeps_tensors(const GraphContext& was, const GraphContext& is, const Change& change) {
  const auto requested = [](const Tensor& tensor) {
    return tensor.requested_bytes > 0 ? tensor.requested_bytes : tensor.bytes;
  };
  return change.new_tensors.empty() && change.parameters == nullptr &&
         std::none_of(change.tensors.begin(), change.tensors.end(), [&](const TensorEdit& edit) {
           const Tensor& before = was.tensors[index(edit.tensor)];
           const Tensor& after = is.tensors[index(edit.tensor)];
           return before.bytes != after.bytes || requested(before) != requested(after);
         });
}

/// Whether the next graph runs as the one before, for the same work: edits that say again what is
/// so anyway change nothing, whatever they say of ranges and provenance. An edit of who is there,
/// of who waits for whom or of a queue is a change; it is not compared.
bool changes_nothing(const TaskGraph& before, const Change& change, const Committed& after) {
  if (!after.new_id.empty() || before.shared_topology() != after.graph.shared_topology() ||
      change.samples.value_or(1) != 1) {
    return false;
  }
  const Weights& was = before.weights();
  const Weights& is = after.graph.weights();
  return *was.duration_ns == *is.duration_ns && *was.segment_ns == *is.segment_ns &&
         *was.lag_ns == *is.lag_ns && *was.overflow_lag_ns == *is.overflow_lag_ns &&
         keeps_order(before.context(), after.graph.context(), change) &&
         keeps_tensors(before.context(), after.graph.context(), change);
}

/// What the run is on with the what-if, and with all that follows in the stack. The device that it
/// was on keeps the memory that its driver reported.
std::optional<Accelerator> device_after(const WhatIf& what_if, const Catalogue& known,
                                        const std::optional<Accelerator>& before) {
  const ParamInfo* const named = what_if.info->accelerator_param;
  if (named == nullptr) return before;
  const auto to = known.accelerator(what_if.parameters.text(*named));
  if (!to.ok()) return std::nullopt;
  return before && is_same_device(*before, **to) ? before : std::optional(**to);
}

bool is_one_device(const std::optional<Accelerator>& a, const std::optional<Accelerator>& b) {
  return a && b ? is_same_device(*a, *b) : a.has_value() == b.has_value();
}

/// In front of the note that is always shown.
void say_nothing_changes(Change& change) {
  if (change.notes.empty()) change.notes.emplace_back("every task stays as recorded");
  change.notes.front().insert(0, "changes nothing: ");
}

}  // namespace

void DurationBounds::follow(const Committed& committed) {
  follow_factors(committed.low, committed, low_);
  follow_factors(committed.high, committed, high_);
}

TaskGraph DurationBounds::low(const TaskGraph& graph) const { return scaled(graph, low_); }
TaskGraph DurationBounds::high(const TaskGraph& graph) const { return scaled(graph, high_); }

DurationBounds DurationBounds::without(const TaskGraph& graph,
                                       const std::function<bool(TaskId)>& is_known) const {
  DurationBounds left = *this;
  for (std::vector<float>* factors : {&left.low_, &left.high_}) {
    for (std::size_t i = 0; i < std::min(factors->size(), graph.size()); ++i) {
      if (is_known(make_id<TaskId>(i))) (*factors)[i] = 1.0F;
    }
  }
  return left;
}

std::vector<NamedFile> files_named_by(const WhatIf& what_if) {
  std::vector<NamedFile> files;
  for (const ParamInfo& row : what_if.info->params) {
    if (row.config.empty()) continue;
    const std::string& text = what_if.parameters.text(row);
    if (costing::CostTable::is_document(text)) continue;  // it stands here
    const std::string path(without_changes(text));
    if (path.ends_with(".json") || path.find('/') != std::string::npos) {
      files.push_back({row.name, row.config, path});
    }
  }
  return files;
}

Status add_files_of(const WhatIf& what_if, CataloguePtr& known) {
  for (const NamedFile& file : files_named_by(what_if)) {
    if (is_imported_cluster(file)) continue;
    auto more = std::make_shared<Catalogue>(known ? *known : no_catalogue());
    if (Status read = more->add_file(file.folder, file.path); !read.ok()) {
      return std::move(read).error().with_context(fmt::format("parameter '{}'", file.parameter));
    }
    known = std::move(more);
  }
  return ok_status();
}

std::string reason_of(const Error& error, std::string_view name) {
  const std::string prefix = fmt::format("{}: ", name);
  return error.message.rfind(prefix, 0) == 0 ? error.message.substr(prefix.size()) : error.message;
}

WhatIfStack::WhatIfStack(const ChangedJob& changed, Checks checks)
    : WhatIfStack(changed.recording, checks) {
  applied_ = changed.applied;
  samples_ = changed.samples;
  origin_.assign(graph_.size(), none<TaskId>);
}

Status WhatIfStack::push(const WhatIf& what_if, Neutral neutral) {
  const WhatIfInfo& info = *what_if.info;
  FORETRACE_TRY(add_files_of(what_if, known_).with_context(info.name));
  const Catalogue& known = known_ ? *known_ : no_catalogue();
  const WhatIfInput scenario{graph_, accelerator_ ? &*accelerator_ : nullptr, known};
  Result<Change> change = info.apply(scenario, what_if.parameters);
  if (!change.ok()) {
    return Error{change.error().code,
                 fmt::format("{}: {}", info.name, reason_of(change.error(), info.name))};
  }
  if (change->parameters == nullptr && graph_.context().parameters == nullptr &&
      change->changes_topology()) {
    // What comes later cannot tell them from kernels that are no longer those of the recording.
    change->parameters = editing::parameters_of(editing::KernelEditor(scenario));
  }
  FORETRACE_TRY(Committed committed, commit(graph_, *change, checks_).with_context(info.name));
  std::optional<Accelerator> on = device_after(what_if, known, accelerator_);
  const bool is_neutral =
      is_one_device(on, accelerator_) && changes_nothing(graph_, *change, committed);
  if (is_neutral) {
    say_nothing_changes(*change);
    if (neutral == Neutral::refuse) {
      return Error{ErrorCode::no_match,
                   fmt::format("{}: {}", info.name, fmt::join(change->notes, "; "))};
    }
  }
  bounds_.follow(committed);
  follow_origin(committed, graph_.size(), origin_);
  if (change->samples) {
    samples_ = samples_.value_or(1) * *change->samples;
  }
  accelerator_ = std::move(on);
  const std::size_t changed = change->tasks_changed(graph_);
  graph_ = std::move(committed.graph);
  std::vector<Doubt> doubts;
  for (const ChangeDoubt& doubt : change->doubts) {
    doubts.push_back({doubt.text, fmt::format("{}: {}", info.name, doubt.text), doubt.is_bounded});
  }
  applied_.push_back({&info, what_if.parameters.texts(), changed,
                      change->tensors.size() + change->new_tensors.size(), std::move(change->notes),
                      std::move(doubts), is_neutral});
  return ok_status();
}

Result<ChangedRun> WhatIfStack::simulate(const RunOptions& options) const {
  FORETRACE_TRY(Run run, simulate_run(graph_, options));
  return ChangedRun{graph_, origin_, std::move(run), applied_, samples_, accelerator_};
}

}  // namespace foretrace
