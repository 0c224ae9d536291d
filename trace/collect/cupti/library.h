// CUPTI loaded at run time: a program that has another version, or none, still runs.
#pragma once

#include <string>

#include <cupti.h>

namespace foretrace::trace::collector {

/// Functions of CUPTI that recording needs.
struct CuptiFunctions {
  decltype(&cuptiGetVersion) get_version = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiUnsubscribe) unsubscribe = nullptr;
  decltype(&cuptiEnableDomain) enable_domain = nullptr;
  decltype(&cuptiEnableCallback) enable_callback = nullptr;
  decltype(&cuptiGetCallbackName) callback_name = nullptr;
  decltype(&cuptiGetTimestamp) timestamp = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityFlushPeriod) flush_period = nullptr;
  decltype(&cuptiGetStreamIdEx) stream_id = nullptr;
  decltype(&cuptiSetThreadIdType) set_thread_id_type = nullptr;
  CUptiResult (*nvtx_initialize)(void* table) = nullptr;   ///< may be missing
  CUptiResult (*nvtx_initialize2)(void* table) = nullptr;  ///< may be missing
};

/// Fills `functions`; empty if all went well, else one line on what stands against recording.
[[nodiscard]] std::string load_cupti(CuptiFunctions& functions);

}  // namespace foretrace::trace::collector
