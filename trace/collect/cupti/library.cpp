#include "trace/collect/cupti/library.h"

#include <array>

#include <dlfcn.h>

namespace foretrace::trace::collector {
namespace {

constexpr std::uint32_t major_of(std::uint32_t version) { return version / 10000; }

std::string soname(std::uint32_t major) { return "libcupti.so." + std::to_string(major); }

std::string version_text(std::uint32_t version) {
  return std::to_string(major_of(version)) + "." + std::to_string(version % 10000 / 100);
}

// Records of another major version are laid out otherwise.
std::string other_version_in_use() {
  for (std::uint32_t major = 10; major < major_of(CUPTI_API_VERSION) + 4; ++major) {
    if (major == major_of(CUPTI_API_VERSION)) continue;
    if (void* const library = ::dlopen(soname(major).c_str(), RTLD_NOW | RTLD_NOLOAD)) {
      ::dlclose(library);
      return soname(major) + " is in use by the program, expected version " +
             std::to_string(major_of(CUPTI_API_VERSION));
    }
  }
  return {};
}

void* open_library() {
  const std::string name = soname(major_of(CUPTI_API_VERSION));
  const std::array<std::string, 2> places = {name,
                                             std::string(FORETRACE_CUPTI_FOLDER) + "/" + name};
  for (const std::string& place : places) {
    if (void* const library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

std::string load_cupti(CuptiFunctions& functions) {
  if (std::string problem = other_version_in_use(); !problem.empty()) return problem;
  void* const library = open_library();
  if (library == nullptr) {
    return soname(major_of(CUPTI_API_VERSION)) +
           " cannot be loaded (LD_LIBRARY_PATH may name its folder)";
  }
  CuptiFunctions& f = functions;
  const bool found = find(library, "cuptiGetVersion", f.get_version) &&
                     find(library, "cuptiGetResultString", f.result_string) &&
                     find(library, "cuptiSubscribe", f.subscribe) &&
                     find(library, "cuptiUnsubscribe", f.unsubscribe) &&
                     find(library, "cuptiEnableDomain", f.enable_domain) &&
                     find(library, "cuptiEnableCallback", f.enable_callback) &&
                     find(library, "cuptiGetCallbackName", f.callback_name) &&
                     find(library, "cuptiGetTimestamp", f.timestamp) &&
                     find(library, "cuptiActivityRegisterCallbacks", f.register_callbacks) &&
                     find(library, "cuptiActivityEnable", f.enable) &&
                     find(library, "cuptiActivityDisable", f.disable) &&
                     find(library, "cuptiGetStreamIdEx", f.stream_id) &&
                     find(library, "cuptiActivityGetNextRecord", f.next_record) &&
                     find(library, "cuptiActivityGetNumDroppedRecords", f.dropped_records) &&
                     find(library, "cuptiActivityFlushAll", f.flush_all) &&
                     find(library, "cuptiActivityFlushPeriod", f.flush_period) &&
                     find(library, "cuptiSetThreadIdType", f.set_thread_id_type);
  if (!found) {
    return soname(major_of(CUPTI_API_VERSION)) + " lacks a function, expected version " +
           version_text(CUPTI_API_VERSION) + " or later";
  }
  find(library, "cuptiNvtxInitialize", f.nvtx_initialize);
  find(library, "cuptiNvtxInitialize2", f.nvtx_initialize2);
  std::uint32_t version = 0;
  if (f.get_version(&version) != CUPTI_SUCCESS ||
      major_of(version) != major_of(CUPTI_API_VERSION) || version < CUPTI_API_VERSION) {
    // Records grow at their ends within a major version; those of an earlier one are too short.
    return "CUPTI has version " + version_text(version) + ", expected " +
           version_text(CUPTI_API_VERSION) + " or a later one of the same generation";
  }
  return {};
}

}  // namespace foretrace::trace::collector
