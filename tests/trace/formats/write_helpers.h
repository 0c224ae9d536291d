// Writing in tests: a trace as the bytes of a format, and the bytes read again.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "trace/formats/reader.h"
#include "trace/formats/writer.h"

namespace foretrace::trace {

[[nodiscard]] inline const WriterInfo& writer_called(std::string_view name) {
  const auto found = choose_writer("", name);
  REQUIRE_MESSAGE(found.ok(), found.error().message);
  return **found;
}

[[nodiscard]] inline std::string written_as(std::string_view format, const LoadedTrace& trace,
                                            std::string_view path = "x") {
  std::string bytes;
  const auto report = write_trace(trace, writer_called(format), path, [&](std::string_view piece) {
    bytes += piece;
    return true;
  });
  REQUIRE_MESSAGE(report.ok(), report.error().message);
  return bytes;
}

[[nodiscard]] inline Result<LoadedTrace> try_read_bytes(std::string_view reader,
                                                        std::string_view bytes,
                                                        const ReadOptions& options = {}) {
  for (const ReaderInfo* info : readers::all()) {
    if (info->name == reader) {
      const auto source = open_memory(bytes, "t");
      return info->read(*source, options);
    }
  }
  return Error{ErrorCode::not_found, "no such reader"};
}

[[nodiscard]] inline LoadedTrace read_bytes(std::string_view reader, std::string_view bytes) {
  auto loaded = try_read_bytes(reader, bytes);
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  return std::move(loaded).value();
}

/// Real traces of every generation of the profiler, where the folder of real traces is.
[[nodiscard]] inline std::vector<std::string> some_real_traces() {
  const std::string folder = FORETRACE_SHARED_DIR "/traces/";
  return {folder + "hta/cp_event_sync_multi_stream_a100.json.gz",
          folder + "ao/gtx1650_python_stack_memory.json.gz",
          folder + "triosim/vgg13_h100_kineto.json.gz",
          folder + "torchrec_dlrm_v100x4/straggler_rank0.json.gz",
          folder + "tracelens/resnet_act_ckpt_mi300x.json.gz",
          folder + "misc/colossalai_infer_a800.json.gz"};
}

}  // namespace foretrace::trace
