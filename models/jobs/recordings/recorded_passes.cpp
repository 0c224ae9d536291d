#include "models/jobs/recordings/recorded_passes.h"

#include <utility>

#include "models/editing/parameters/update_of_pass.h"

namespace foretrace {

std::vector<RecordedPass> recorded_passes(const editing::KernelEditor& editor, std::size_t layers) {
  std::vector<editing::TrainingPass> found = editing::find_passes(editor);
  auto updates = editing::updates_of_passes(editor, found);
  const std::vector<bool> updated = editing::followed_by_update(editor, found);
  std::vector<RecordedPass> passes;
  passes.reserve(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto own = editing::find_layers(editor, found[i], layers);
    passes.push_back(
        {std::move(found[i]), std::move(own), std::move(updates[i].kernels), updated[i]});
  }
  return passes;
}

}  // namespace foretrace
