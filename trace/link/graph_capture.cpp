#include "trace/link/graph_capture.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/core/text.h"
#include "trace/annotate/annotate.h"
#include "trace/io/text.h"
#include "trace/table/linked_operator.h"

namespace foretrace::trace {
namespace {

bool is_graph_launch(std::string_view name) { return contains(name, "GraphLaunch"); }
bool is_launch(std::string_view name) {
  const bool kernel = contains(name, "LaunchKernel") || contains(name, "LaunchCooperativeKernel");
  return kernel && !contains(name, "ConfigureCall");
}

std::vector<EventId> by_start(const EventTable& events, std::vector<EventId> rows) {
  std::stable_sort(rows.begin(), rows.end(), [&](EventId a, EventId b) {
    return events.start_ns[index(a)] < events.start_ns[index(b)];
  });
  return rows;
}

// Launches that no device event answers.
std::vector<EventId> captured_launches(const EventTable& events) {
  std::unordered_set<std::uint32_t> answered;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.is_device_event(make_id<EventId>(i)) && events.correlation[i] != 0) {
      answered.insert(events.correlation[i]);
    }
  }
  std::vector<EventId> launches;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.kind[i] == EventKind::runtime && is_launch(events.name_of(make_id<EventId>(i))) &&
        !answered.contains(events.correlation[i])) {
      launches.push_back(make_id<EventId>(i));
    }
  }
  return by_start(events, std::move(launches));
}

// Kernels of each graph launch in order of their start; graphs in order of their launch.
std::vector<std::vector<EventId>> executed_graphs(const EventTable& events) {
  std::vector<EventId> launches;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.kind[i] == EventKind::runtime && events.correlation[i] != 0 &&
        is_graph_launch(events.name_of(make_id<EventId>(i)))) {
      launches.push_back(make_id<EventId>(i));
    }
  }
  std::map<std::uint32_t, std::size_t> graph_of;
  for (const EventId launch : by_start(events, std::move(launches))) {
    graph_of.try_emplace(events.correlation[index(launch)], graph_of.size());
  }
  std::vector<std::vector<EventId>> graphs(graph_of.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto graph = graph_of.find(events.correlation[i]);
    if (events.kind[i] == EventKind::kernel && graph != graph_of.end()) {
      graphs[graph->second].push_back(make_id<EventId>(i));
    }
  }
  std::vector<std::vector<EventId>> filled;
  for (auto& graph : graphs) {
    if (!graph.empty()) {
      filled.push_back(by_start(events, std::move(graph)));
    }
  }
  return filled;
}

// The kernel that a launch names ("kernel" argument, HIP); empty where it does not.
std::string launched_kernel(const EventTable& events, EventId launch) {
  const Descriptor& arguments = events.descriptors[index(events.descriptor[index(launch)])];
  const std::string_view text = events.names[arguments.text];
  constexpr std::string_view key = "\"kernel\": \"";
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) {
    return {};
  }
  const std::size_t start = at + key.size();
  std::size_t end = start;
  while (end < text.size() && text[end] != '"') {
    end += text[end] == '\\' ? 2 : 1;
  }
  return unescaped(text.substr(start, std::min(end, text.size()) - start));
}

class Join {
 public:
  Join(const EventTable& capture, EventTable& execution)
      : capture_(capture), execution_(execution), launches_(captured_launches(capture)) {
    for (const EventId launch : launches_) {
      names_.push_back(launched_kernel(capture, launch));
      named_ = named_ && !names_.back().empty();
    }
  }

  Result<CaptureLink> run() {
    const auto graphs = executed_graphs(execution_);
    if (launches_.empty() || graphs.empty()) {
      return Error{ErrorCode::no_match,
                   fmt::format("{} and {}: {} to link", capture_.info.path, execution_.info.path,
                               launches_.empty() ? "the first has no captured launches"
                                                 : "the second has no kernels of a graph launch")};
    }
    link_.captured = launches_.size();
    link_.by_name = named_;
    std::vector<std::pair<EventId, EventId>> pairs;  // kernel, launch
    std::size_t next = 0;
    for (const std::vector<EventId>& graph : graphs) {
      FORETRACE_TRY(auto at, position_of(graph, next));
      for (std::size_t i = 0; i < graph.size(); ++i) {
        pairs.emplace_back(graph[i], launches_[at + i]);
      }
      next = at + graph.size();
    }
    link_.graphs = graphs.size();
    link_.kernels = pairs.size();
    attach(pairs);
    return link_;
  }

 private:
  // The first launch of the run that a graph consists of: behind the last one, else anywhere.
  Result<std::size_t> position_of(const std::vector<EventId>& graph, std::size_t next) {
    if (!named_) {
      // Nothing but the number can be compared: only a whole capture is sure enough.
      if (graph.size() == launches_.size()) {
        return std::size_t{0};
      }
      return differ(graph, 0, "launches name no kernels, and the numbers differ");
    }
    for (const std::size_t from : {next, std::size_t{0}}) {
      for (std::size_t at = from; at + graph.size() <= launches_.size(); ++at) {
        if (common(graph, at) == graph.size()) return at;
      }
    }
    return differ(graph, next < launches_.size() ? next : 0, "their kernels differ");
  }

  // How many kernels of the graph are those of the launches from `at` on.
  [[nodiscard]] std::size_t common(const std::vector<EventId>& graph, std::size_t at) const {
    std::size_t i = 0;
    while (i < graph.size() && at + i < names_.size() &&
           names_[at + i] == execution_.name_of(graph[i])) {
      ++i;
    }
    return i;
  }

  [[nodiscard]] Error differ(const std::vector<EventId>& graph, std::size_t at,
                             std::string_view why) const {
    const std::size_t same = named_ ? common(graph, at) : 0;
    std::string where;
    if (same < graph.size() && at + same < names_.size() && named_) {
      where = fmt::format("; kernel {}: captured '{}', executed '{}'", same + 1,
                          shortened(names_[at + same], 50),
                          shortened(execution_.name_of(graph[same]), 50));
    }
    return Error{ErrorCode::no_match,
                 fmt::format("{} and {} are not capture and execution of one graph: {} launches "
                             "captured, {} kernels executed by a launch, {}{}",
                             capture_.info.path, execution_.info.path, launches_.size(),
                             graph.size(), why, where)};
  }

  void attach(const std::vector<std::pair<EventId, EventId>>& pairs) {
    const Annotation annotation = annotate(capture_);
    for (const auto& [kernel, launch] : pairs) {
      const EventId around = annotation.operator_event[index(launch)];
      const std::uint32_t module = annotation.layer[index(launch)];
      const std::string layer = module == 0 ? std::string() : annotation.modules[module].name;
      link_.with_layer += module == 0 ? 0 : 1;
      if (around == none<EventId> && layer.empty()) continue;
      execution_.descriptor[index(kernel)] = descriptor_for(kernel, around, layer);
    }
  }

  DescriptorId descriptor_for(EventId kernel, EventId around, const std::string& layer) {
    const DescriptorId own = execution_.descriptor[index(kernel)];
    const bool known = around != none<EventId>;
    const std::string_view name = known ? capture_.name_of(around) : std::string_view();
    const Descriptor outer =
        known ? capture_.descriptors[index(capture_.descriptor[index(around)])] : Descriptor{};
    Descriptor linked = execution_.descriptors[index(own)];
    const auto carry = [&](NameId id) { return execution_.names.intern(capture_.names[id]); };
    linked.dims = carry(outer.dims);
    linked.types = carry(outer.types);
    linked.concrete = carry(outer.concrete);
    linked.text =
        execution_.names.intern(with_captured(execution_.names[linked.text], name, layer));
    link_.with_operator += known ? 1 : 0;
    link_.with_shapes += linked.dims == NameId{} ? 0 : 1;
    const auto [at, is_new] =
        made_.try_emplace({own, linked.dims, linked.types, linked.concrete, linked.text},
                          make_id<DescriptorId>(execution_.descriptors.size()));
    if (is_new) {
      execution_.descriptors.push_back(linked);
    }
    return at->second;
  }

  const EventTable& capture_;
  EventTable& execution_;
  std::vector<EventId> launches_;
  std::vector<std::string> names_;  // by launch
  bool named_ = true;
  CaptureLink link_;
  std::map<std::tuple<DescriptorId, NameId, NameId, NameId, NameId>, DescriptorId> made_;
};

}  // namespace

bool looks_like_capture(const EventTable& events) {
  std::size_t kernels = 0;
  for (const EventKind kind : events.kind) {
    kernels += kind == EventKind::kernel ? 1 : 0;
  }
  // A trace that merely starts late lacks some kernels of its last launches, not most.
  return captured_launches(events).size() > kernels;
}

bool looks_like_graph_execution(const EventTable& events) {
  return !executed_graphs(events).empty();
}

Result<CaptureLink> join_capture(const EventTable& capture, EventTable& execution) {
  return Join(capture, execution).run();
}

}  // namespace foretrace::trace
