// Fills an EventTable from the planes of an XSpace.
//
// Device planes: lines called "Stream #N(...)" are device work, on a GPU. What is derived from it
// ("XLA Modules", "XLA Ops", "Steps", "TensorFlow Name Scope", ...) repeats the same time and
// becomes annotations. A TPU has no streams: there the line "XLA Ops" is the work, and "Async XLA
// Ops" its copies; operations that contain others (loops, calls) are annotations. Host planes:
// calls of CUDA and HIP with a correlation id launch; the rest are operators, Python frames and,
// where they carry a step number, steps. The metadata plane has the compiled modules: what their
// instructions read, write and compute is said of the kernels that are theirs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "trace/formats/common/row_builder.h"
#include "trace/formats/xla/hlo_match.h"
#include "trace/formats/xla/xspace.h"
#include "trace/table/events.h"
#include "trace/table/import_report.h"

namespace foretrace::trace::formats {

class XplaneImport {
 public:
  XplaneImport(EventTable& table, ImportReport& report)
      : table_(table), report_(report), rows_(table, report) {}

  /// Reads everything. Call once. The bytes must live as long as that.
  void run(std::string_view bytes);

 private:
  /// What the stats of an event say, as far as it matters here.
  struct Facts {
    std::int64_t correlation = 0;
    std::int64_t step = -1;
    std::int64_t bytes = -1;
    std::int64_t program = -1;
    double flops = -1;
    std::string_view operation;  ///< hlo_op
    std::string_view module;     ///< hlo_module
    std::string_view scope;      ///< tf_op
    std::string_view kernel;     ///< kernel_details
    std::string_view copy;       ///< memcpy_details
    std::string_view set;        ///< memset_details
  };
  struct Timed {
    const XEventMetadata* metadata = nullptr;
    Facts facts;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    RowPlace place;
    bool contains_others = false;
    const HloProgram::Step* step = nullptr;  ///< of the compiled module
  };

  void read_programs(const XPlane& plane, std::string_view bytes, const XDamage& damage);
  void match(std::vector<Timed>& events) const;
  void read_device(const XPlane& plane);
  void read_host(const XPlane& plane);
  void read_environment(const XPlane& plane);
  void read_properties(const XPlane& plane, std::int32_t device);
  [[nodiscard]] static EventKind work_kind(const Timed& event);
  void add_work(const Timed& event, EventKind kind, TrackId track);
  void add_call(const Timed& event, TrackId track);
  [[nodiscard]] std::vector<Timed> events_of(const XPlane& plane, const XLine& line);
  [[nodiscard]] static Facts facts_of(const XPlane& plane,
                                      const std::vector<std::string_view>& stats, Facts facts);
  void warn();

  EventTable& table_;
  ImportReport& report_;
  RowBuilder rows_;
  HloPrograms programs_;
  std::unordered_map<std::int64_t, NameId> operation_of_;  // by correlation; none: several
  std::unordered_set<std::int32_t> listed_;                // devices
  std::uint64_t launches_ = 0;
  std::uint64_t work_ = 0;
  bool has_tpu_ = false;
};

}  // namespace foretrace::trace::formats
