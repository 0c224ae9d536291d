// Recordings of pipelines made by hand: every rank is a stage whose kernels, sends and receives run
// on streams, with clocks, schedules and networks of our choice. What is right is known: it is what
// was put in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "tests/trace/rules/table_builder.h"
#include "trace/ranks/job.h"

namespace foretrace::trace {

enum class Schedule : std::uint8_t { gpipe, one_forward_one_backward, interleaved };
/// What tells where a message goes.
enum class Told : std::uint8_t {
  kernel,      ///< "Src Rank" and "Dst Rank" of the kernel
  annotation,  ///< "nccl:send 0->1" around the launch
  group        ///< nothing but the operator and a group of two ranks
};

struct PipelineOptions {
  Schedule schedule = Schedule::gpipe;
  Told told = Told::kernel;
  int stages = 4;
  int microbatches = 8;
  int chunks = 1;  ///< per stage, interleaved
  double forward_us = 2000;
  double backward_us = 4000;
  double jitter = 0;        ///< of kernels, as a share
  double transfer_us = 20;  ///< from the moment when both are there
  double latency_us = 5;    ///< that the receiver needs more
  bool sends_wait = false;  ///< for their receiver; else they are buffered
  bool batched = false;     ///< a send and the receive behind it are one kernel
  bool numbered = false;    ///< "Seq" counts the messages of a channel
  std::uint32_t seed = 1;
  std::vector<double> clock_us;  ///< per rank: what its clock is ahead
};

class Pipeline {
 public:
  explicit Pipeline(const PipelineOptions& options)
      : options_(options), random_(options.seed), ranks_(static_cast<std::size_t>(options.stages)) {
    for (int stage = 0; stage < options_.stages; ++stage) {
      program(stage);
    }
    run();
  }

  /// From the first launch to the last end.
  [[nodiscard]] double span_us() const { return span_us_; }
  [[nodiscard]] std::size_t messages() const { return sides_.size(); }

  /// The recordings.
  [[nodiscard]] std::vector<RankTrace> traces() {
    std::vector<RankTrace> list;
    for (int stage = 0; stage < options_.stages; ++stage) {
      list.push_back(trace(stage));
    }
    return list;
  }

  /// Of a kernel of a rank: the messages it sends and receives; empty: it computes.
  using MessageKey = std::tuple<std::string, int, int, int>;  // group, source, target, number
  [[nodiscard]] const std::vector<MessageKey>& messages_of(int stage, EventId kernel) const {
    return ranks_[static_cast<std::size_t>(stage)][kernels_.at({stage, kernel})].messages;
  }

 private:
  static constexpr double launch_us = 4;
  static constexpr double gap_us = 3;

  struct Kernel {
    double duration_us = 0;
    std::vector<MessageKey> messages;
    std::int64_t stream = 7;
    int after = -1;  // another stream's kernel of this rank that it waits for
    double start_us = -1;
    double end_us = -1;
  };
  struct Sides {
    Kernel* send = nullptr;
    Kernel* receive = nullptr;
  };
  struct Turn {
    bool forward = true;
    int chunk = 0;
    int microbatch = 0;
  };

  [[nodiscard]] std::vector<Turn> turns(int stage) const {
    const int n = options_.stages;
    const int v = options_.schedule == Schedule::interleaved ? options_.chunks : 1;
    const int total = options_.microbatches * v;
    const auto turn = [&](bool forward, int k) {
      const int chunk = (k % (n * v)) / n;
      return v == 1 ? Turn{forward, 0, k}
                    : Turn{forward, forward ? chunk : v - 1 - chunk, k / (n * v) * n + k % n};
    };
    const int before = options_.schedule == Schedule::gpipe ? total
                       : v == 1                             ? std::min(total, n - 1 - stage)
                                : std::min(total, (n - 1 - stage) * 2 + (v - 1) * n);
    std::vector<Turn> list;
    for (int k = 0; k < before; ++k) {
      list.push_back(turn(true, k));
    }
    for (int k = before; k < total; ++k) {
      list.push_back(turn(true, k));
      list.push_back(turn(false, k - before));
    }
    for (int k = total - before; k < total; ++k) {
      list.push_back(turn(false, k));
    }
    return list;
  }

  /// The stage that a turn gets its input from, or gives its result to; -1 for none.
  [[nodiscard]] int peer(int stage, const Turn& turn, bool gives) const {
    const int v = options_.schedule == Schedule::interleaved ? options_.chunks : 1;
    const int place = turn.chunk * options_.stages + stage;
    const int other = turn.forward == gives ? place + 1 : place - 1;
    return other < 0 || other >= v * options_.stages ? -1 : other % options_.stages;
  }

  void program(int stage) {
    std::vector<Kernel>& list = ranks_[static_cast<std::size_t>(stage)];
    list.reserve(16 * static_cast<std::size_t>(options_.microbatches * options_.chunks));
    int sent = -1;  // a send that may be joined by the receive behind it
    for (const Turn& turn : turns(stage)) {
      int got = -1;
      if (const int from = peer(stage, turn, false); from >= 0) {
        // One kernel is of one group.
        const bool joins = options_.batched && sent >= 0 &&
                           std::get<0>(list[static_cast<std::size_t>(sent)].messages[0]) ==
                               group_of(turn.forward, from, stage);
        got = add_message(stage, turn.forward, from, stage, joins ? sent : -1);
      }
      Kernel kernel;
      kernel.after = got;
      kernel.duration_us = turn.forward ? options_.forward_us : options_.backward_us;
      kernel.duration_us *= 1 + options_.jitter * unit();
      list.push_back(kernel);
      sent = -1;
      if (const int to = peer(stage, turn, true); to >= 0) {
        sent = add_message(stage, turn.forward, stage, to, -1);
        list[static_cast<std::size_t>(sent)].after = static_cast<int>(list.size()) - 2;
      }
    }
  }

  /// Returns the kernel that does it.
  int add_message(int stage, bool forward, int source, int target, int joined) {
    std::vector<Kernel>& list = ranks_[static_cast<std::size_t>(stage)];
    const std::string group = group_of(forward, source, target);
    int& number = counts_[{group, source, target, stage}];
    const MessageKey key{group, source, target, number++};
    if (joined >= 0) {
      list[static_cast<std::size_t>(joined)].messages.push_back(key);
      return joined;
    }
    Kernel kernel;
    kernel.messages.push_back(key);
    kernel.stream = stage == source ? 22 : 20;
    if (options_.batched) {
      kernel.stream = 20;
    } else if (options_.schedule != Schedule::gpipe) {
      kernel.stream += forward ? 0 : 10;
    }
    list.push_back(kernel);
    return static_cast<int>(list.size()) - 1;
  }

  [[nodiscard]] std::string group_of(bool forward, int source, int target) const {
    const auto [low, high] = std::minmax(source, target);
    const std::string way = options_.schedule == Schedule::interleaved ? (forward ? "f" : "b") : "";
    return options_.told == Told::group ? fmt::format("pp{}_{}_{}", way, low, high) : "pp" + way;
  }

  [[nodiscard]] double unit() { return static_cast<double>(random_() % 1'000'001) / 1e6; }

  void run() {
    for (std::size_t stage = 0; stage < ranks_.size(); ++stage) {
      for (Kernel& kernel : ranks_[stage]) {
        for (const MessageKey& key : kernel.messages) {
          (std::get<1>(key) == static_cast<int>(stage) ? sides_[key].send : sides_[key].receive) =
              &kernel;
        }
      }
    }
    for (bool moves = true; moves;) {
      moves = false;
      for (std::vector<Kernel>& list : ranks_) {
        std::map<std::int64_t, const Kernel*> tail;
        for (std::size_t i = 0; i < list.size(); ++i) {
          moves = place(list, i, tail[list[i].stream]) || moves;
          tail[list[i].stream] = &list[i];
        }
      }
    }
    for (const std::vector<Kernel>& list : ranks_) {
      for (const Kernel& kernel : list) {
        span_us_ = std::max(span_us_, kernel.end_us);
      }
    }
  }

  /// True if it became known when a kernel starts or ends.
  bool place(std::vector<Kernel>& list, std::size_t i, const Kernel* before) {
    Kernel& kernel = list[i];
    bool moves = false;
    if (kernel.start_us < 0) {
      double start = 100 + launch_us * static_cast<double>(2 * i + 2);
      const Kernel* const cause =
          kernel.after < 0 ? nullptr : &list[static_cast<std::size_t>(kernel.after)];
      for (const Kernel* const earlier : {before, cause}) {
        if (earlier != nullptr && earlier->end_us < 0) {
          return false;
        }
        start = earlier == nullptr ? start : std::max(start, earlier->end_us + gap_us);
      }
      kernel.start_us = start;
      moves = true;
    }
    if (kernel.end_us >= 0) {
      return moves;
    }
    double end = kernel.start_us + kernel.duration_us;
    for (const MessageKey& key : kernel.messages) {
      const Sides& sides = sides_.at(key);
      const bool sends = sides.send == &kernel;
      const Kernel& other = sends ? *sides.receive : *sides.send;
      const bool waits = !sends || options_.sends_wait;
      if (waits && other.start_us < 0) {
        return moves;
      }
      const double both = waits ? std::max(kernel.start_us, other.start_us) : kernel.start_us;
      end = std::max(end, both + options_.transfer_us + (sends ? 0 : options_.latency_us));
    }
    kernel.end_us = end;
    return true;
  }

  RankTrace trace(int stage) {
    TableBuilder t;
    const TrackId thread = t.thread(1);
    const std::vector<Kernel>& list = ranks_[static_cast<std::size_t>(stage)];
    t.event(EventKind::user_annotation, "ProfilerStep#1", thread, 0, last_end(list) + 60);
    for (std::size_t i = 0; i < list.size(); ++i) {
      add_kernel(t, stage, i);
    }
    const double launched = 100 + launch_us * static_cast<double>(2 * list.size() + 2);
    t.call(thread, "cudaDeviceSynchronize", launched, last_end(list) + 20 - launched);
    EventTable& table = t.table();
    const bool is_off = static_cast<std::size_t>(stage) < options_.clock_us.size();
    table.info.base_time_ns =
        1'000'000'000'000 +
        (is_off ? TableBuilder::ns(options_.clock_us[static_cast<std::size_t>(stage)]) : 0);
    table.info.rank = stage;
    table.info.world_size = options_.stages;
    RankTrace rank;
    rank.path = fmt::format("rank{}.json", stage);
    rank.rank = stage;
    rank.trace.events = std::move(table);
    return rank;
  }

  static double last_end(const std::vector<Kernel>& list) {
    double end = 0;
    for (const Kernel& kernel : list) {
      end = std::max(end, kernel.end_us);
    }
    return end;
  }

  void add_kernel(TableBuilder& t, int stage, std::size_t i) {
    const Kernel& kernel = ranks_[static_cast<std::size_t>(stage)][i];
    const TrackId thread = t.thread(1);
    const double at = 100 + launch_us * static_cast<double>(2 * i);
    for (std::size_t m = 0; m < kernel.messages.size(); ++m) {
      add_host(t, stage, kernel, m, at);
    }
    const EventId call = t.call(thread, "cudaLaunchKernel", at + 2, launch_us);
    const char* const name =
        kernel.messages.empty() ? "gemm" : "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage)";
    const EventId event = t.work(call, t.stream(kernel.stream), kernel.start_us,
                                 kernel.end_us - kernel.start_us, name);
    kernels_[{stage, event}] = i;
    if (kernel.messages.size() == 1) {
      describe(t, event, arguments(stage, kernel.messages[0], options_.told == Told::kernel));
    }
  }

  /// The operator of a message; of one among several its record, without a kernel of its own.
  void add_host(TableBuilder& t, int stage, const Kernel& kernel, std::size_t m, double at) {
    const MessageKey& key = kernel.messages[m];
    const auto& [group, source, target, number] = key;
    const bool sends = source == stage;
    const double begin = at + 0.2 * static_cast<double>(m);
    const bool is_one = kernel.messages.size() == 1;
    const double length = is_one ? launch_us + 3 : 0.1;
    t.op(t.thread(1), sends ? "c10d::send" : "c10d::recv_", begin, length);
    if (options_.told == Told::annotation) {
      const std::string text = sends ? fmt::format("nccl:send {}->{}", source, target)
                                     : fmt::format("nccl:recv {}<-{}", target, source);
      t.event(EventKind::user_annotation, text, t.thread(1), begin, length);
    }
    if (!is_one) {
      const EventId record = t.op(t.thread(1), "record_param_comms", begin, 0.1);
      describe(t, record, arguments(stage, key, options_.told != Told::group, true));
    }
  }

  [[nodiscard]] std::string arguments(int stage, const MessageKey& key, bool with_peers,
                                      bool is_record = false) const {
    const auto& [group, source, target, number] = key;
    std::string text = fmt::format(R"({{"Process Group Name": "{}", "In msg nelems": 1024, )"
                                   R"("dtype": "Float")",
                                   group);
    if (options_.told == Told::group) {
      text += R"(, "Group size": 2)";
    }
    if (with_peers || is_record) {
      text += fmt::format(R"(, "Collective name": "{}")", source == stage ? "send" : "recv");
    }
    if (with_peers) {
      text += fmt::format(R"(, "Src Rank": {}, "Dst Rank": {})", source, target);
    }
    if (options_.numbered) {
      text += fmt::format(R"(, "Seq": {})", number);
    }
    return text + "}";
  }

  static void describe(TableBuilder& t, EventId event, const std::string& text) {
    EventTable& table = t.table();
    Descriptor row;
    row.text = table.names.intern(text);
    table.descriptors.push_back(row);
    table.descriptor[index(event)] = make_id<DescriptorId>(table.descriptors.size() - 1);
  }

  PipelineOptions options_;
  std::mt19937 random_;
  std::vector<std::vector<Kernel>> ranks_;
  std::map<std::tuple<std::string, int, int, int>, int> counts_;
  std::map<MessageKey, Sides> sides_;
  std::map<std::pair<int, EventId>, std::size_t> kernels_;
  double span_us_ = 0;
};

}  // namespace foretrace::trace
