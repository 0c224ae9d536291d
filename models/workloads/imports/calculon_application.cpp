#include "models/workloads/calculon.h"

#include <array>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "sim/core/params.h"

namespace foretrace {
namespace {

// calculon/llm/llm.py, num_parameters()
constexpr double calculon_vocabulary = 51200;
constexpr double most_of_calculon = 1e7;

}  // namespace

bool is_calculon_application(const ConfigValue& root) {
  return root.find("attn_heads") != nullptr && root.find("num_blocks") != nullptr;
}

Result<ModelSpec> model_from_calculon(const ConfigValue& root, const std::string& where) {
  ModelSpec model;
  model.name = std::filesystem::path(where).stem().string();
  model.product = model.name;
  model.source = "application file of Calculon";
  TransformerSpec& spec = model.transformer;
  struct Size {
    std::string_view key;
    double* out;
  };
  double layers = 0;
  const std::array sizes = {Size{"hidden", &spec.hidden},       Size{"feedforward", &spec.ffn},
                            Size{"seq_size", &spec.positions},  Size{"attn_heads", &spec.heads},
                            Size{"attn_size", &spec.head_size}, Size{"num_blocks", &layers}};
  for (const Size& size : sizes) {
    const ConfigValue* const value = root.find(size.key);
    const auto number = value != nullptr && value->kind == ConfigValue::Kind::number
                            ? parse_quantity(value->text, ParamType::number)
                            : Result<double>(Error{ErrorCode::bad_config, ""});
    if (!number.ok() || !(*number >= 1 && *number <= most_of_calculon) ||
        *number != std::floor(*number)) {
      return Error{
          ErrorCode::bad_config,
          fmt::format("{}: /{}: {}, expected a whole number from 1 to {:g}", where, size.key,
                      value == nullptr ? "missing key" : value->described(), most_of_calculon)};
    }
    *size.out = *number;
  }
  if (layers > 1e5) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: /num_blocks: got {}, expected at most 100000", where, layers)};
  }
  spec.layers = static_cast<std::uint32_t>(layers);
  spec.kv_heads = spec.heads;
  spec.vocabulary = calculon_vocabulary;
  return model;
}

}  // namespace foretrace
