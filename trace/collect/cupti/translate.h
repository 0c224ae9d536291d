// Activity records of CUPTI as records of our own.
#pragma once

#include <cstdint>

#include <cupti.h>

#include "trace/collect/record_writer.h"

namespace foretrace::trace::collector {

/// Hands each activity to a writer. One thread at a time.
class Translator {
 public:
  explicit Translator(RecordWriter& writer) : writer_(writer) {}

  /// False for a kind that is not recorded.
  bool add(const CUpti_Activity& activity);
  /// Kernels, copies, sets and graphs so far.
  [[nodiscard]] std::int64_t device_work() const { return device_work_; }

 private:
  bool add_rare(const CUpti_Activity& activity);
  void add_overhead(const CUpti_ActivityOverhead3& overhead);
  void add_device(const CUpti_ActivityDevice5& device);
  TextNumber text(const char* text);

  RecordWriter& writer_;
  std::int64_t device_work_ = 0;
};

}  // namespace foretrace::trace::collector
