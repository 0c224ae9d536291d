#include "trace/formats/xla/hlo_module.h"

#include <utility>

namespace foretrace::trace::formats {
namespace {

enum ProtoField : std::uint32_t { proto_module = 1 };
enum ModuleField : std::uint32_t {
  module_name = 1,
  module_computations = 3,
  module_entry = 6,
  module_schedule = 7
};
enum ComputationField : std::uint32_t {
  computation_instructions = 2,
  computation_id = 5,
  computation_root = 6
};
enum InstructionField : std::uint32_t {
  op_own_name = 1,
  op_opcode = 2,
  op_shape = 3,
  op_metadata = 7,
  op_parameter = 9,
  op_convolution = 16,
  op_target = 28,
  op_dot = 30,
  op_id = 35,
  op_operands = 36,
  op_called = 38,
  op_config = 43
};
enum ShapeField : std::uint32_t { shape_type = 2, shape_dims = 3, shape_parts = 4 };
enum OpMetadataField : std::uint32_t { op_metadata_name = 2 };
enum DotField : std::uint32_t {
  dot_lhs_contracting = 1,
  dot_rhs_contracting = 2,
  dot_lhs_batch = 3,
  dot_rhs_batch = 4
};
enum ConvolutionField : std::uint32_t {
  convolution_kernel_input = 3,
  convolution_kernel_output = 4,
  convolution_kernel_spatial = 6,
  convolution_input_batch = 7,
  convolution_input_feature = 8,
  convolution_output_batch = 9,
  convolution_output_feature = 10,
  convolution_input_spatial = 11,
  convolution_output_spatial = 12
};
enum ScheduleField : std::uint32_t { schedule_sequences = 1, sequence_ids = 1 };
enum SequenceMapField : std::uint32_t { sequence_key = 1, sequence_value = 2 };

constexpr int deepest_tuple = 8;
constexpr std::size_t most_dims = 16;
constexpr std::size_t most_results = 4096;
// Many instructions may look at those of one.
constexpr std::size_t longest_scope = 4096;

class Reader {
 public:
  explicit Reader(const XDamage& damage) : damage_(damage) {}

  HloModule module(WireReader fields) {
    HloModule module;
    std::vector<WireReader> schedules;
    while (fields.next()) {
      const bool is_message = fields->type == WireType::bytes;
      switch (fields->number) {
        case module_name: module.name = fields->bytes; break;
        case module_entry: module.entry = fields->value; break;
        case module_computations:
          if (is_message) computation(fields.message(), module);
          break;
        case module_schedule:
          if (is_message) schedules.push_back(fields.message());
          break;
        default: break;
      }
    }
    check(fields);
    for (const WireReader& schedule : schedules) sequences(schedule, module);
    return module;
  }

 private:
  void check(const WireReader& fields) const {
    if (!fields.trouble().empty()) damage_("HLO: " + fields.trouble(), fields.offset());
  }
  void append(const WireReader& fields, std::vector<std::uint64_t>& out) const {
    if (!append_varints(*fields, out)) damage_("HLO: a list of numbers is cut off", fields->offset);
  }

  /// Positions of dimensions.
  void append_dims(const WireReader& fields, std::vector<std::uint64_t>& out) const {
    append(fields, out);
    if (out.size() <= most_dims) return;
    damage_("HLO: a list of more dimensions than a tensor has", fields->offset);
    out.clear();
  }

  void computation(WireReader fields, HloModule& module) {
    HloComputation computation;
    std::uint64_t id = 0;
    while (fields.next()) {
      switch (fields->number) {
        case computation_id: id = fields->value; break;
        case computation_root: computation.root = fields->value; break;
        case computation_instructions:
          if (fields->type == WireType::bytes) {
            computation.instructions.push_back(instruction(fields.message()));
          }
          break;
        default: break;
      }
    }
    check(fields);
    for (std::size_t i = 0; i < computation.instructions.size(); ++i) {
      const std::uint64_t own = computation.instructions[i].id;
      if (computation.by_id.emplace(own, i).second) computation.schedule.push_back(own);
    }
    module.computations.emplace(id, std::move(computation));
  }

  HloInstruction instruction(WireReader fields) {
    HloInstruction made;
    while (fields.next()) {
      const bool is_message = fields->type == WireType::bytes;
      switch (fields->number) {
        case op_own_name: made.name = fields->bytes; break;
        case op_opcode: made.opcode = fields->bytes; break;
        case op_target: made.target = fields->bytes; break;
        case op_config: made.config = fields->bytes; break;
        case op_id: made.id = fields->value; break;
        case op_parameter: made.parameter = fields->value; break;
        case op_operands: append(fields, made.operands); break;
        case op_called: append(fields, made.called); break;
        case op_shape:
          if (is_message) shape(fields.message(), made.results, 0);
          break;
        case op_metadata:
          if (is_message) made.op_name = scope_of(fields.message());
          break;
        case op_dot:
          if (is_message) made.dot = dot(fields.message());
          break;
        case op_convolution:
          if (is_message) made.convolution = convolution(fields.message());
          break;
        default: break;
      }
    }
    check(fields);
    return made;
  }

  void shape(WireReader fields, std::vector<HloShape>& out, int depth) {
    HloShape made;
    std::vector<std::uint64_t> dims;
    while (fields.next()) {
      switch (fields->number) {
        case shape_type: made.type = static_cast<std::uint32_t>(fields->value); break;
        case shape_dims: append(fields, dims); break;
        case shape_parts:
          if (fields->type == WireType::bytes && depth < deepest_tuple) {
            shape(fields.message(), out, depth + 1);
          }
          break;
        default: break;
      }
    }
    check(fields);
    if (made.type == hlo_tuple || dims.size() > most_dims || out.size() >= most_results) return;
    for (const std::uint64_t size : dims) {
      // No tensor has more; as a signed number a size is never negative.
      constexpr std::uint64_t most = std::uint64_t{1} << 48U;
      if (size > most) return damage_("HLO: a size of a shape is out of range", fields.offset());
      made.dims.push_back(static_cast<std::int64_t>(size));
    }
    out.push_back(std::move(made));
  }

  std::string_view scope_of(WireReader fields) {
    std::string_view name;
    while (fields.next()) {
      if (fields->number == op_metadata_name) name = fields->bytes;
    }
    check(fields);
    if (name.size() <= longest_scope) return name;
    damage_("HLO: the name of a scope is too long", fields.offset());
    return {};
  }

  HloDotDims dot(WireReader fields) {
    HloDotDims dims;
    while (fields.next()) {
      switch (fields->number) {
        case dot_lhs_contracting: append_dims(fields, dims.lhs_contracting); break;
        case dot_rhs_contracting: append_dims(fields, dims.rhs_contracting); break;
        case dot_lhs_batch: append_dims(fields, dims.lhs_batch); break;
        case dot_rhs_batch: append_dims(fields, dims.rhs_batch); break;
        default: break;
      }
    }
    check(fields);
    return dims;
  }

  HloConvolutionDims convolution(WireReader fields) {
    HloConvolutionDims dims;
    while (fields.next()) {
      switch (fields->number) {
        case convolution_kernel_input: dims.kernel_input = fields->value; break;
        case convolution_kernel_output: dims.kernel_output = fields->value; break;
        case convolution_input_batch: dims.input_batch = fields->value; break;
        case convolution_input_feature: dims.input_feature = fields->value; break;
        case convolution_output_batch: dims.output_batch = fields->value; break;
        case convolution_output_feature: dims.output_feature = fields->value; break;
        case convolution_kernel_spatial: append_dims(fields, dims.kernel_spatial); break;
        case convolution_input_spatial: append_dims(fields, dims.input_spatial); break;
        case convolution_output_spatial: append_dims(fields, dims.output_spatial); break;
        default: break;
      }
    }
    check(fields);
    return dims;
  }

  void sequences(WireReader fields, HloModule& module) {
    while (fields.next()) {
      if (fields->number != schedule_sequences || fields->type != WireType::bytes) continue;
      WireReader entry = fields.message();
      std::uint64_t id = 0;
      std::vector<std::uint64_t> ids;
      while (entry.next()) {
        if (entry->number == sequence_key) id = entry->value;
        if (entry->number != sequence_value || entry->type != WireType::bytes) continue;
        WireReader sequence = entry.message();
        while (sequence.next()) {
          if (sequence->number == sequence_ids) append(sequence, ids);
        }
        check(sequence);
      }
      check(entry);
      const auto found = module.computations.find(id);
      if (found == module.computations.end() || ids.empty()) continue;
      if (ids.size() > found->second.instructions.size()) {
        damage_("HLO: a schedule of more instructions than there are", entry.offset());
        continue;
      }
      found->second.schedule = std::move(ids);
    }
    check(fields);
  }

  const XDamage& damage_;
};

}  // namespace

const HloInstruction* HloComputation::find(std::uint64_t id) const {
  const auto found = by_id.find(id);
  return found == by_id.end() ? nullptr : &instructions[found->second];
}

const HloComputation* HloModule::find(std::uint64_t id) const {
  const auto found = computations.find(id);
  return found == computations.end() ? nullptr : &found->second;
}

HloModule read_hlo(std::string_view proto, std::uint64_t offset, const XDamage& damage) {
  WireReader fields(proto, offset);
  Reader reader(damage);
  HloModule module;
  while (fields.next()) {
    if (fields->number == proto_module && fields->type == WireType::bytes) {
      module = reader.module(fields.message());
    }
  }
  if (!fields.trouble().empty()) damage("HLO: " + fields.trouble(), fields.offset());
  return module;
}

}  // namespace foretrace::trace::formats
