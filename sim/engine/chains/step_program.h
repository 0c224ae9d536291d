// The steps of one recorded rank under factors, again and again: what no factor changes is laid out
// once, and chains of host work between two waits are sums and not simulated.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sim/graph/task_graph.h"
#include "sim/result/steps/steps.h"

namespace foretrace {

/// What a factor of a placement acts on.
enum class Factor : std::uint8_t { compute, copies, communication, host };
inline constexpr std::size_t factor_count = 4;
using Factors = std::array<double, factor_count>;
[[nodiscard]] Factor factor_of(TaskKind kind);

/// Streams whose operations may be laid out beforehand; runs with more are simulated.
inline constexpr std::size_t most_streams = 16;

/// Times under a factor, where they belong; the others of the column stay. Times of 0 are left out.
struct ScaledTimes {
  std::vector<std::uint32_t> at;
  std::vector<double> ns;

  void add(std::size_t place, std::int64_t time_ns);
  void write(double factor, std::vector<std::int64_t>& column) const;
};

/// Gives what simulated_steps() gives, for graphs of one rank whose streams keep their
/// order and whose collectives are single tasks; the span of those without steps. Immutable:
/// threads share it.
///
/// A task that only continues its lane is a member of a chain: its times are those of the task
/// that the chain begins with, and the sum of what lies between. All other tasks are nodes, and so
/// is everything on the device.
class StepProgram {
 public:
  /// None if the graph is of another kind.
  [[nodiscard]] static std::optional<StepProgram> of(const TaskGraph& graph);

  /// What a thread keeps from question to question: only what factors change is computed anew.
  struct State {
    std::uint64_t program = 0;  ///< whose state this is; 0: nobody's
    Factors factors{};
    std::vector<std::int64_t> times{};  ///< two per node: start, end; then origin and never
    std::vector<std::int64_t> duration_ns{};
    std::array<std::vector<std::int64_t>, 3> lag_ns{};  ///< per slot
    std::vector<std::int64_t> gap_ns{};                 ///< per operation, stream after stream
    std::vector<std::int64_t> chain_ns{};  ///< two per member: start, end after its chain begins
    std::vector<std::int64_t> work_ns{};   ///< per step, of a single stream
  };
  /// Fills `steps`, whose memory is reused.
  void run(const Factors& factors, State& state, StepTimes& steps) const;

 private:
  friend class StepProgramBuilder;

  /// A time: that of a node or of the origin, and perhaps what a chain adds.
  struct Time {
    std::uint32_t at = 0;
    std::uint32_t chain = no_chain;  ///< into chain_ns
  };
  static constexpr std::uint32_t no_chain = ~std::uint32_t{0};
  /// A lag that moves with a chain.
  struct ChainLag {
    std::uint32_t node = 0;
    std::uint32_t chain = 0;
    std::int64_t lag_ns = 0;  ///< of the dependency alone
  };
  struct Member {
    double segment_ns = 0;
    double duration_ns = 0;
    bool is_first = false;  ///< of its chain
  };
  /// Nodes that are simulated alike.
  struct Stretch {
    enum class Kind : std::uint8_t {
      stream,   ///< each follows the node before it, and waits for one other time
      general,  ///< three slots
      overflow  ///< one node, with further dependencies
    };
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    Kind kind = Kind::general;
  };
  struct Further {
    Time source;
    Time late_after;
    bool has_late_after = false;
    float fraction = 0;
    std::uint32_t node = 0;  ///< whose duration the fraction is of
    std::int64_t lag_ns = 0;
  };
  struct Operation {
    std::uint32_t node = 0;
    std::int32_t step = -1;
    TaskId task{};
  };
  struct StepMarks {
    Time begin;
    Time end;
    std::int64_t number = 0;
  };

  /// Of one step in the only stream.
  struct StepOperations {
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t count = 0;
  };

  void set(const Factors& factors, State& state) const;
  void set_host(double factor, State& state) const;
  void simulate(State& state) const;
  void run_overflow(std::uint32_t node, State& state) const;
  [[nodiscard]] std::int64_t span_of(const State& state) const;
  void read_one_stream(const State& state, StepTimes& steps) const;
  void read_streams(const State& state, StepTimes& steps) const;
  [[nodiscard]] static std::int64_t begin_of(const State& state, const Operation& operation) {
    return state.times[2 * std::size_t{operation.node}];
  }
  [[nodiscard]] static std::int64_t time_of(const State& state, const Time& time) {
    return state.times[time.at] + (time.chain == no_chain ? 0 : state.chain_ns[time.chain]);
  }

  std::uint64_t number_ = 0;  ///< no other program of the process has it
  std::size_t nodes_ = 0;
  std::array<std::vector<std::uint32_t>, 3> sources_;  ///< per slot and node: into times
  std::array<std::vector<std::int64_t>, 3> lags_;      ///< of the recording
  std::array<ScaledTimes, factor_count> durations_;    ///< of nodes
  std::vector<std::int64_t> duration_ns_;              ///< of the recording
  std::vector<double> segment_ns_;                     ///< of nodes
  std::array<std::vector<ChainLag>, 3> chain_lags_;
  std::vector<Member> members_;
  std::vector<Time> chain_ends_;
  std::vector<Stretch> stretches_;
  std::vector<Further> further_;              ///< sorted by node
  std::vector<std::uint32_t> further_nodes_;  ///< of each
  std::vector<std::vector<Operation>> streams_;
  bool is_one_stream_ = false;                   ///< and each operation follows the one before it
  std::vector<StepOperations> step_operations_;  ///< if it is one stream
  std::vector<StepMarks> steps_;
};

}  // namespace foretrace
