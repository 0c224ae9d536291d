// NodeGraph: a trace that is a graph of nodes with explicit dependencies, as PyTorch's execution
// traces and Chakra's are. Rows are nodes in the order of their recorded ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/ids.h"

namespace foretrace::trace {

enum class NodeId : std::uint32_t {};  ///< a row of a NodeGraph

enum class NodeKind : std::uint8_t {
  unknown,
  metadata,      ///< describes the run, does no work
  compute,       ///< an operator or a kernel: NodePlace tells
  memory_load,   ///< bytes from another memory
  memory_store,  ///< bytes to another memory
  send,
  receive,
  collective
};
enum class NodePlace : std::uint8_t { unknown, host, device };

/// A tensor that a node reads or writes.
struct NodeTensor {
  NodeId node{};
  std::uint64_t tensor = 0;
  std::uint64_t storage = 0;       ///< equal where two tensors share memory
  std::int64_t offset = 0;         ///< elements from the begin of the storage
  std::int64_t elements = 0;       ///< of the storage
  std::int64_t element_bytes = 0;  ///< per element
  NameId device{};                 ///< "cuda:0", "cpu"
  bool is_output = false;
};

/// What a communicating node says about its communication. -1 and empty: not recorded.
struct NodeCommunication {
  NodeId node{};
  NameId kind{};  ///< "all_reduce", "all_gather", ..., as the format calls it in lower case
  std::int64_t bytes = -1;
  NameId group{};  ///< process group as recorded
  std::int32_t group_size = -1;
  NameId element_type{};
  std::int64_t input_elements = -1;
  std::int64_t output_elements = -1;
  std::int32_t source = -1;  ///< ranks of a send or receive
  std::int32_t destination = -1;
  std::int32_t tag = -1;
};

/// Any other attribute of a node, as text.
struct NodeAttribute {
  NodeId node{};
  NameId name{};
  NameId value{};
};

/// What a node works on; texts as JSON where the format has JSON.
struct NodeSignature {
  NameId schema{};  ///< "aten::add.Tensor(Tensor self, ...) -> Tensor"
  NameId values{};  ///< arguments that are no tensors; a tensor is ""
  NameId shapes{};
  NameId types{};
  NameId output_shapes{};
  NameId output_types{};
  friend bool operator==(const NodeSignature&, const NodeSignature&) = default;
};

/// Attributes of our own writer: what the format has no place for. Times in ns; a TaskKind; six
/// numbers for each dependency (see NodeTiming).
inline constexpr std::string_view duration_attribute = "foretrace.duration_ns";
inline constexpr std::string_view start_attribute = "foretrace.start_ns";
inline constexpr std::string_view kind_attribute = "foretrace.kind";
inline constexpr std::string_view timing_attribute = "foretrace.timing";
/// Time from the begin of the window to the first operation of a stream.
inline constexpr std::string_view delay_attribute = "foretrace.delay_ns";
/// The number of a recorded step: of its tasks and of its two marks.
inline constexpr std::string_view step_attribute = "foretrace.step";
inline constexpr std::string_view step_begin_attribute = "foretrace.step_begin";
inline constexpr std::string_view step_end_attribute = "foretrace.step_end";

/// What edges without weights cannot say. Only our own writer records it, for exact round trips.
struct NodeTiming {
  NodeId node{};
  NodeId source{};
  std::uint8_t kind = 0;    ///< DependencyKind
  bool from_start = false;  ///< counts from the start of `source`, not from its end
  std::int64_t lag_ns = 0;
  float fraction = 0;                       ///< of the source's duration
  NodeId late_after = NodeId{0xFFFFFFFFU};  ///< holds only if it comes after this point
  bool late_after_end = false;
};

/// Columns have one entry per node. -1: not recorded.
struct NodeGraph {
  std::string schema;  ///< as recorded: "1.1.0-chakra.0.0.4"
  bool has_durations = false;
  bool has_starts = false;

  std::vector<std::uint64_t> id;  ///< as recorded; ascending, no two are equal
  std::vector<NameId> name;
  std::vector<NodeKind> kind;
  std::vector<NodePlace> place;
  std::vector<NodeId> parent;  ///< none<NodeId>: a root
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> duration_ns;
  std::vector<std::int64_t> record_function;  ///< rf_id: counts the calls that were profiled
  std::vector<std::int64_t> sequence;         ///< autograd sequence number
  std::vector<std::int64_t> thread;
  std::vector<std::int64_t> stream;
  std::vector<std::int16_t> task_kind;   ///< TaskKind, where our own writer recorded it
  std::vector<std::int64_t> operations;  ///< floating-point operations
  std::vector<std::int64_t> bytes;       ///< of the tensors it works on
  std::vector<std::uint32_t> signature;  ///< index of `signatures`

  std::vector<std::uint32_t> data_offsets;  ///< size() + 1 entries into data
  std::vector<NodeId> data;                 ///< nodes whose end a node waits for
  std::vector<std::uint32_t> control_offsets;
  std::vector<NodeId> control;

  std::vector<NodeSignature> signatures;          ///< [0] is empty
  std::vector<NodeTensor> tensors;                ///< sorted by node, inputs first
  std::vector<NodeCommunication> communications;  ///< sorted by node
  std::vector<NodeAttribute> attributes;          ///< sorted by node
  std::vector<NodeTiming> timings;                ///< sorted by node

  [[nodiscard]] std::size_t size() const { return id.size(); }
};

}  // namespace foretrace::trace
