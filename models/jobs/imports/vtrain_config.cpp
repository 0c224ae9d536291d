// Configurations of vTrain: sizes of a GPT beside the plan of its training.
//
//   {"num_layers": 48, "hidden_size": 6144, "num_attention_heads": 64, "max_length": 2048, ...}
//
// Read there by vTrainConfig (github.com/VIA-Research/vTrain: src/config.py).
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "models/jobs/workloads/model_import.h"

namespace foretrace::model_imports::vtrain_config_parts {
namespace {

// vTrainConfig's vocab_size where a file has none.
constexpr double usual_vocabulary = 50257;
constexpr double most_of_vtrain = 1e7;
constexpr double most_layers = 1e5;
constexpr std::array<std::string_view, 3> members = {"tensor_parallel_size", "num_layers",
                                                     "max_length"};

bool recognizes(const ImportedFile& file) { return file.has(members); }

Result<ModelSpec> read(const ImportedFile& file) {
  ModelSpec model;
  model.source = "configuration of vTrain";
  TransformerSpec& spec = model.transformer;
  Members root(file.document, file.path);
  spec.layers = root.whole("num_layers", most_layers);
  spec.hidden = root.whole("hidden_size", most_of_vtrain);
  spec.heads = root.whole("num_attention_heads", most_of_vtrain);
  spec.positions = root.whole("max_length", most_of_vtrain);
  spec.vocabulary =
      root.has("vocab_size") ? root.whole("vocab_size", most_of_vtrain) : usual_vocabulary;
  if (std::fmod(spec.hidden, spec.heads) != 0) {
    root.mistake("num_attention_heads",
                 fmt::format("got {}, expected a divisor of hidden_size, which is {}", spec.heads,
                             spec.hidden));
  }
  FORETRACE_TRY(root.finish());
  spec.kv_heads = spec.heads;
  spec.head_size = spec.hidden / spec.heads;
  spec.ffn = 4 * spec.hidden;
  return model;
}

}  // namespace

extern constexpr ModelImport info = {"vtrain_config", "configurations of vTrain",
                                     "github.com/VIA-Research/vTrain: src/config.py", recognizes,
                                     read};

}  // namespace foretrace::model_imports::vtrain_config_parts
