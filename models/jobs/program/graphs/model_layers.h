// The layers of a modelled step: the model, its blocks by their position, and their operators.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "models/jobs/program/graphs/rank_nodes.h"
#include "sim/graph/graph_builder.h"

namespace foretrace {

/// Layers of the model by the position of their block, and of the operators in it.
class ModelLayers {
 public:
  ModelLayers(GraphBuilder& builder, const RankProgram& program, std::string_view name)
      : builder_(builder), program_(program), root_(builder.add_layer(name)) {}

  [[nodiscard]] LayerId of(const NodePlace& place, const Action* action) {
    if (place.block == UINT32_MAX) return {};
    const bool is_part = action != nullptr && action->operator_index != Action::no_operator;
    const std::uint32_t part = is_part ? action->operator_index + 1U : 0;
    const auto [known, is_new] = layers_.try_emplace({place.order, part});
    if (!is_new) return known->second;
    if (is_part) {
      const LayerId block = of(place, nullptr);
      const std::string_view op =
          (*program_.divided)[place.block].operators[action->operator_index].name;
      known->second = builder_.add_layer(fmt::format("{}/{}", name_of(place), op), block);
    } else {
      known->second = builder_.add_layer(name_of(place), root_);
    }
    return known->second;
  }

 private:
  [[nodiscard]] std::string name_of(const NodePlace& place) const {
    const RankProgram::Block& block = (*program_.blocks)[place.block];
    const std::string_view model =
        builder_.context().names[builder_.context().layers[index(root_)].name];
    if (block.role != BlockRole::layer) return fmt::format("{}/{}", model, block.name);
    return fmt::format("{}/{}_{}", model, block.name, place.order);
  }

  GraphBuilder& builder_;
  const RankProgram& program_;
  LayerId root_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, LayerId> layers_;
};

/// What a task is, beside its times.
struct Doing {
  Work work;
  Phase phase = Phase::unknown;
  LayerId layer{};
  Provenance provenance = Provenance::roofline;
};

}  // namespace foretrace
