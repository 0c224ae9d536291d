// Application files of Calculon: sizes of a GPT.
//
//   {"hidden": 12288, "feedforward": 49152, "seq_size": 2048, "attn_heads": 96, "attn_size": 128,
//    "num_blocks": 96}
//
// Read there by calculon/llm/llm.py (github.com/calculon-ai/calculon).
#include <array>

#include "models/jobs/workloads/model_import.h"

namespace foretrace::model_imports::calculon_application_parts {
namespace {

// calculon/llm/llm.py, num_parameters()
constexpr double calculon_vocabulary = 51200;
constexpr double most_of_calculon = 1e7;
constexpr double most_layers = 1e5;
constexpr std::array<std::string_view, 2> members = {"attn_heads", "num_blocks"};

bool recognizes(const ImportedFile& file) { return file.has(members); }

Result<ModelSpec> read(const ImportedFile& file) {
  ModelSpec model;
  model.source = "application file of Calculon";
  TransformerSpec& spec = model.transformer;
  Members root(file.document, file.path);
  spec.hidden = root.whole("hidden", most_of_calculon);
  spec.ffn = root.whole("feedforward", most_of_calculon);
  spec.positions = root.whole("seq_size", most_of_calculon);
  spec.heads = root.whole("attn_heads", most_of_calculon);
  spec.head_size = root.whole("attn_size", most_of_calculon);
  spec.layers = root.whole("num_blocks", most_layers);
  FORETRACE_TRY(root.finish());
  spec.kv_heads = spec.heads;
  spec.vocabulary = calculon_vocabulary;
  return model;
}

}  // namespace

extern constexpr ModelImport info = {"calculon_application", "application files of Calculon",
                                     "github.com/calculon-ai/calculon: calculon/llm/llm.py",
                                     recognizes, read};

}  // namespace foretrace::model_imports::calculon_application_parts
