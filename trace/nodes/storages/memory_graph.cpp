#include "trace/nodes/storages/memory_graph.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/graph/graph_builder.h"

namespace foretrace::trace {
namespace {

// What the allocator leaves with a large block (CUDACachingAllocator: kSmallSize), and how many
// smaller sizes are compared.
constexpr std::int64_t largest_tail = std::int64_t{1} << 20;
constexpr int most_sizes = 256;

TensorCategory category_of(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, TensorCategory>, 7> known = {{
      {"parameter", TensorCategory::weight},
      {"optimizer state", TensorCategory::optimizer_state},
      {"input", TensorCategory::input},
      {"temporary", TensorCategory::temporary},
      {"activation", TensorCategory::activation},
      {"gradient", TensorCategory::gradient},
      {"autograd detail", TensorCategory::temporary},
  }};
  const auto* const found =
      std::find_if(known.begin(), known.end(), [&](const auto& row) { return row.first == name; });
  return found == known.end() ? TensorCategory::unknown : found->second;
}

/// The tensors of one category that are live, by age and by size.
class Column {
 public:
  Column(TensorCategory category, std::int32_t device) : category_(category), device_(device) {}

  void grow(std::int64_t bytes, TaskId at, std::uint32_t sequence) {
    Tensor tensor{.bytes = bytes, .device = device_, .category = category_};
    tensor.phase = category_ == TensorCategory::optimizer_state ? Phase::update : Phase::unknown;
    tensor.allocated_in = at;
    tensor.allocated_sequence = sequence;
    live_[bytes].push_back(tensors_.size());
    ages_.push_back(tensors_.size());
    tensors_.push_back(tensor);
    ++sizes_[bytes];
  }

  void shrink(std::int64_t bytes, TaskId at, std::uint32_t sequence) {
    const auto same = live_.find(bytes);
    while (same != live_.end() && !same->second.empty()) {
      const std::size_t tensor = same->second.back();
      same->second.pop_back();
      if (is_live(tensor) && tensors_[tensor].bytes == bytes) return free(tensor, at, sequence);
    }
    while (bytes > 0 && !ages_.empty()) {
      const std::size_t tensor = ages_.back();
      if (!is_live(tensor)) {
        ages_.pop_back();
        continue;
      }
      if (tensors_[tensor].bytes > bytes) {  // a part of it goes
        Tensor part = tensors_[tensor];
        part.bytes = bytes;
        tensors_[tensor].bytes -= bytes;
        live_[tensors_[tensor].bytes].push_back(tensor);
        tensors_.push_back(part);
        return free(tensors_.size() - 1, at, sequence);
      }
      bytes -= tensors_[tensor].bytes;
      ages_.pop_back();
      free(tensor, at, sequence);
    }
  }

  void emit(GraphBuilder& builder) const {
    for (Tensor tensor : tensors_) {
      tensor.requested_bytes = request_behind(tensor.bytes);
      builder.add_tensor(tensor);
    }
  }

 private:
  [[nodiscard]] bool is_live(std::size_t tensor) const {
    return tensors_[tensor].freed_in == none<TaskId>;
  }
  void free(std::size_t tensor, TaskId at, std::uint32_t sequence) {
    tensors_[tensor].freed_in = at;
    tensors_[tensor].freed_sequence = sequence;
  }
  [[nodiscard]] std::int64_t request_behind(std::int64_t block) const {
    const auto own = sizes_.find(block);
    if (own == sizes_.end()) return -1;
    auto best = own;
    auto size = own;
    for (int i = 0; i < most_sizes && size != sizes_.begin(); ++i) {
      --size;
      if (block - size->first > largest_tail || size->first <= largest_tail) break;
      if (size->second > best->second) best = size;
    }
    return best->first;
  }

  TensorCategory category_;
  std::int32_t device_;
  std::vector<Tensor> tensors_;
  std::vector<std::size_t> ages_;
  std::map<std::int64_t, std::vector<std::size_t>> live_;
  std::map<std::int64_t, std::size_t> sizes_;
};

}  // namespace

Result<BuiltGraph> build_memory_graph(const MemoryTimeline& timeline) {
  if (timeline.size() == 0) {
    return Error{ErrorCode::unsupported, "memory timeline: it has no samples"};
  }
  GraphBuilder builder;
  const LaneId lane = builder.add_lane({.kind = LaneKind::host_thread, .name = "samples"});
  const WorkId work =
      builder.add_work({.name = builder.add_name("sample"), .kind = TaskKind::mark});
  builder.add_rank_class({.first_rank = 0, .multiplicity = 1});
  const std::size_t width = timeline.categories.size();
  const std::int32_t device = std::max<std::int32_t>(0, timeline.device);
  std::vector<Column> columns;
  for (const std::string& name : timeline.categories) {
    columns.emplace_back(category_of(name), device);
  }
  std::vector<std::int64_t> before(width, 0);
  std::int64_t time = 0;
  for (std::size_t sample = 0; sample < timeline.size(); ++sample) {
    const std::int64_t at = std::max(time, timeline.time_ns[sample]);
    const TaskId task = builder.add_task(
        {.lane = lane, .work = work, .kind = TaskKind::mark, .segment_ns = at - time});
    time = at;
    // Of one sample frees come first, as they make room for what comes.
    for (const bool frees : {true, false}) {
      for (std::size_t c = 0; c < width; ++c) {
        const std::int64_t change = timeline.bytes[sample * width + c] - before[c];
        const auto sequence = static_cast<std::uint32_t>(2 * sample + (frees ? 0 : 1));
        if (frees && change < 0) columns[c].shrink(-change, task, sequence);
        if (!frees && change > 0) {
          columns[c].grow(change, sample == 0 ? none<TaskId> : task, sequence);
        }
      }
    }
    for (std::size_t c = 0; c < width; ++c) before[c] = timeline.bytes[sample * width + c];
  }
  for (const Column& column : columns) column.emit(builder);
  FORETRACE_TRY(TaskGraph graph, std::move(builder).build());
  BuiltGraph built{.graph = std::move(graph), .honesty = {}, .steps = {}};
  built.honesty.span_ns = time;
  if (!timeline.reserved.empty()) {
    DeviceMemory memory;
    memory.graph_device = device;
    memory.first_reserved_bytes = timeline.reserved.front();
    memory.peak_reserved_bytes =
        *std::max_element(timeline.reserved.begin(), timeline.reserved.end());
    built.memory.push_back(std::move(memory));
  }
  built.warnings.emplace_back("a memory timeline: tensors, but no work and no times");
  return built;
}

}  // namespace foretrace::trace
