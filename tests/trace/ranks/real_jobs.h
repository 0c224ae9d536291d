// The recorded jobs that tests look at, where they are present.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trace/ranks/job.h"

namespace foretrace::trace {

struct RealJob {
  std::string name;
  std::vector<std::string> inputs;  ///< relative to the folder of recordings
};

inline std::vector<RealJob> real_jobs() {
  const auto files = [](const std::string& front, int count) {
    std::vector<std::string> list;
    for (int i = 0; i < count; ++i) {
      list.push_back(front + std::to_string(i) + ".json.gz");
    }
    return list;
  };
  const std::string torchrec = "torchrec_dlrm_v100x4/";
  return {{"tp8", files("megatron_tp8_a100/kineto_", 8)},
          {"dlrm8", {"param_et/dlrm_8rank_v100_kineto.tar.gz"}},
          {"str", files(torchrec + "straggler_rank", 4)},
          {"nostr", files(torchrec + "nostraggler_rank", 4)},
          {"fp32", files(torchrec + "fp32_a2a_rank", 4)},
          {"qcomm", files(torchrec + "qcomm_a2a_rank", 4)},
          {"tp2", files("megatron_tp2_v100/kineto_", 2)}};
}

/// Folder of recordings, ending in a slash; empty if they are not here.
inline std::string recordings() {
  const std::string folder = std::string(FORETRACE_SHARED_DIR) + "/traces/";
  return !folder.empty() && std::filesystem::exists(folder) ? folder : "";
}

/// The traces of a job by its name.
inline Result<std::vector<RankTrace>> read_real_job(const std::string& name) {
  for (RealJob& job : real_jobs()) {
    if (job.name == name) {
      for (std::string& input : job.inputs) {
        input = recordings() + input;
      }
      return read_job(job.inputs, {});
    }
  }
  return Error{ErrorCode::bad_usage, "no job of that name"};
}

}  // namespace foretrace::trace
