// Activity records of CUPTI as records of our own.
#pragma once

#include <cstdint>
#include <unordered_map>

#include <cupti.h>

#include "trace/collect/record_writer.h"

namespace foretrace::trace::collector {

/// The name of a call; may give null.
using CallName = const char* (*)(bool is_driver, std::uint32_t call_id);

/// Hands each activity to a writer. One thread at a time.
class Translator {
 public:
  Translator(RecordWriter& writer, CallName call_name) : writer_(writer), call_name_(call_name) {}

  /// False for a kind that is not recorded.
  bool add(const CUpti_Activity& activity);
  /// Kernels, copies, sets and graphs so far.
  [[nodiscard]] std::int64_t device_work() const { return device_work_; }

 private:
  bool add_rare(const CUpti_Activity& activity);
  void add_call(const CUpti_ActivityAPI& api, bool is_driver);
  void add_overhead(const CUpti_ActivityOverhead3& overhead);
  void add_device(const CUpti_ActivityDevice5& device);
  TextNumber text(const char* text);

  RecordWriter& writer_;
  CallName call_name_;
  std::int64_t device_work_ = 0;
  std::unordered_map<std::uint64_t, TextNumber> call_names_;
};

}  // namespace foretrace::trace::collector
