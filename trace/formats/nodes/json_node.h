// Nodes of execution traces as JSON: PyTorch's own and the two JSON forms of Chakra.
#pragma once

#include <memory>
#include <string_view>

#include "trace/formats/nodes/node_builder.h"

namespace foretrace::trace::formats {

/// Reads nodes one by one; keys are understood in every spelling that writers use ("ctrl_deps",
/// "ctrlDeps", "Id", "durationMicros", "runtime").
class JsonNodeReader {
 public:
  explicit JsonNodeReader(NodeBuilder& builder);
  ~JsonNodeReader();
  JsonNodeReader(const JsonNodeReader&) = delete;
  JsonNodeReader& operator=(const JsonNodeReader&) = delete;

  /// Adds the node, or counts why not. True if it was added.
  bool add(std::string_view json, std::uint64_t offset);
  /// The value of "schema" in a list of attributes; empty if there is none.
  [[nodiscard]] std::string schema_of(std::string_view attributes);

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
  NodeBuilder& builder_;
};

}  // namespace foretrace::trace::formats
