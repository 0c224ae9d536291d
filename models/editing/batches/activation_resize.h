// What grows with activations beside kernels: transfers of them, and their tensors.
#pragma once

#include <cstddef>
#include <functional>

#include "sim/edit/tensors.h"

namespace foretrace::editing {

/// What collectives move grows where that is activations: between experts and embeddings (all to
/// all), stages of a pipeline, and parts of a layer. Returns how many there are.
std::size_t resize_transfers(Editor& editor, double factor);

/// Activations, their gradients, inputs and temporaries grow by what `factor` says of each, by
/// index. Parameters, gradients, states and workspaces stay as large as they are.
void resize_tensors(TensorEditor& edits, const TaskGraph& graph,
                    const std::function<double(std::size_t)>& factor);

}  // namespace foretrace::editing
