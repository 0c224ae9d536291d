#include "apps/session/answer_laws.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "models/hardware/costs/highest_rate.h"
#include "models/hardware/costs/kernel_cost.h"

namespace foretrace {
namespace {

double ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

/// What the user, a table or a paper states may be any time.
bool is_modelled(Provenance provenance) {
  return provenance == Provenance::scaled || provenance == Provenance::roofline;
}

bool has_formula(const ChangedRun& changed) {
  return std::any_of(changed.applied.begin(), changed.applied.end(),
                     [](const Applied& one) { return one.info->basis == Basis::formula; });
}

[[noreturn]] void broken(std::string_view law, const std::string& by) { throw BrokenLaw(law, by); }

void check_times(const TaskGraph& graph) {
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.duration_ns(task) >= 0) continue;
    broken("no task has a negative duration",
           fmt::format("'{}' takes {} ns", graph.name(task), graph.duration_ns(task)));
  }
}

/// A time of the recording that a what-if changed. Of a modelled job none was measured.
void check_provenance(const TaskGraph& recorded, const ChangedRun& changed) {
  const TaskGraph& graph = changed.graph;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.provenance(task) != Provenance::measured) continue;
    const TaskId was = changed.origin.empty() ? task : changed.origin[i];
    if (was == none<TaskId> || index(was) >= recorded.size() ||
        recorded.provenance(was) != Provenance::measured ||
        std::abs(graph.duration_ns(task) - recorded.duration_ns(was)) <= 1) {  // ns are whole
      continue;
    }
    broken("a time that was changed is not said to be measured",
           fmt::format("'{}' took {:.3f} us and takes {:.3f} us", graph.name(task),
                       static_cast<double>(recorded.duration_ns(was)) * 1e-3,
                       static_cast<double>(graph.duration_ns(task)) * 1e-3));
  }
}

void check_tensors(const TaskGraph& graph) {
  for (const Tensor& tensor : graph.context().tensors) {
    if (tensor.bytes >= 0) continue;
    broken("no tensor has a negative size",
           fmt::format("one of '{}' takes {} bytes", graph.names()[tensor.operator_name],
                       tensor.bytes));
  }
}

void check_step(const Run& run) {
  if (run.answer.step_ns < 0) {
    broken("no step has a negative duration", fmt::format("{} ns", run.answer.step_ns));
  }
  if (run.answer.is_span) return;
  const std::int64_t work = run.answer.work_ns;
  if (work <= run.answer.step_ns) return;
  broken("a step is no shorter than the work of its device",
         fmt::format("{:.3f} ms of work in a step of {:.3f} ms", ms(work), ms(run.answer.step_ns)));
}

/// Of kernels that what-ifs put in: they are described as they are. One that was recorded may do
/// less than its shapes say, in a lower precision than its name says.
void check_peak(const Recording& recording, const ChangedRun& changed) {
  const TaskGraph& graph = changed.graph;
  const std::size_t recorded = recording.graph().context().works.size();
  const bool adds_works = graph.context().works.size() > recorded;
  if (!changed.accelerator || !adds_works || has_formula(changed)) return;
  const double rate = highest_rate(*changed.accelerator);
  if (!(rate > 0)) return;
  // Those of which what-ifs say anew what they do, and copies of them.
  std::set<std::string_view> was_recorded;
  for (const Work& work : recording.graph().context().works) {
    was_recorded.insert(recording.graph().names()[work.name]);
  }
  const auto described = describe_works(graph, &*changed.accelerator);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    const std::size_t work = index(graph.work_id(task));
    if (work < recorded || was_recorded.contains(graph.name(task)) ||
        !is_device(graph.kind(task)) || !is_modelled(graph.provenance(task))) {
      continue;
    }
    const KernelDescription& kernel = described[work];
    if (!kernel.traits.compute_bound || kernel.shape_from_grid) continue;
    const double least_ns = kernel.amount.flops / rate * 1e9;
    if (static_cast<double>(graph.duration_ns(task) + 1) >= least_ns) continue;  // ns are whole
    broken("no product is faster than the peak of its device",
           fmt::format("'{}' takes {:.3f} us, {} at least {:.3f} us", graph.name(task),
                       static_cast<double>(graph.duration_ns(task)) * 1e-3,
                       changed.accelerator->name, least_ns * 1e-3));
  }
}

}  // namespace

void expect_laws(const Recording& recording, const ChangedRun& changed) {
  check_times(changed.graph);
  check_provenance(recording.graph(), changed);
  check_tensors(changed.graph);
  check_step(changed.run);
  check_peak(recording, changed);
}

void expect_laws_of_answer(const Recording& recording, const Prediction& prediction) {
  expect_laws(recording, prediction);
  const std::int64_t step = prediction.run.answer.step_ns;
  if (0 <= prediction.low_ns && prediction.low_ns <= step && step <= prediction.high_ns) return;
  broken("a range contains its step",
         fmt::format("{:.3f} ms is not within {:.3f} .. {:.3f} ms", ms(step), ms(prediction.low_ns),
                     ms(prediction.high_ns)));
}

}  // namespace foretrace
