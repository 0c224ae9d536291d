#include "trace/collect/cupti/activities.h"

#include <array>

#include <generated_nvtx_meta.h>

namespace foretrace::trace::collector {
namespace {

constexpr std::array always = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMCPY2,           CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_OVERHEAD,          CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};
constexpr std::array descriptions = {CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONTEXT,
                                     CUPTI_ACTIVITY_KIND_STREAM, CUPTI_ACTIVITY_KIND_NAME};

const char* ascii_of(const nvtxEventAttributes_t* attributes) {
  return attributes != nullptr && attributes->messageType == NVTX_MESSAGE_TYPE_ASCII
             ? attributes->message.ascii
             : nullptr;
}

}  // namespace

void switch_activities(const CuptiFunctions& cupti, const Settings& settings, bool on) {
  const auto change = [&](CUpti_ActivityKind kind) {
    static_cast<void>(on ? cupti.enable(kind) : cupti.disable(kind));
  };
  for (const CUpti_ActivityKind kind : always) {
    change(kind);
  }
  if (settings.memory) {
    change(CUPTI_ACTIVITY_KIND_MEMORY2);
  }
  if (settings.ranges) {
    change(CUPTI_ACTIVITY_KIND_MARKER);
  }
}

void ask_for_descriptions(const CuptiFunctions& cupti) {
  for (const CUpti_ActivityKind kind : descriptions) {
    static_cast<void>(cupti.enable(kind));
  }
}

const char* range_of(CUpti_CallbackId call, const void* parameters) {
  switch (call) {
    case CUPTI_CBID_NVTX_nvtxRangePushA:
      return static_cast<const nvtxRangePushA_params*>(parameters)->message;
    case CUPTI_CBID_NVTX_nvtxRangeStartA:
      return static_cast<const nvtxRangeStartA_params*>(parameters)->message;
    case CUPTI_CBID_NVTX_nvtxRangePushEx:
      return ascii_of(static_cast<const nvtxRangePushEx_params*>(parameters)->eventAttrib);
    case CUPTI_CBID_NVTX_nvtxRangeStartEx:
      return ascii_of(static_cast<const nvtxRangeStartEx_params*>(parameters)->eventAttrib);
    case CUPTI_CBID_NVTX_nvtxDomainRangePushEx:
      return ascii_of(
          static_cast<const nvtxDomainRangePushEx_params*>(parameters)->core.eventAttrib);
    case CUPTI_CBID_NVTX_nvtxDomainRangeStartEx:
      return ascii_of(
          static_cast<const nvtxDomainRangeStartEx_params*>(parameters)->core.eventAttrib);
    default: return nullptr;
  }
}

}  // namespace foretrace::trace::collector
