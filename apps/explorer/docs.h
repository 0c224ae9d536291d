// The pages of examples/ in a browser: what `serve --docs` answers.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "apps/web/guard.h"
#include "apps/web/http.h"
#include "sim/core/result.h"

namespace foretrace::explorer {

/// Markdown files and pictures of a folder, read once. Thread-safe; a request opens no file.
class Docs {
 public:
  /// Error: the folder has no README.md.
  [[nodiscard]] static Result<Docs> read(const std::string& folder);

  /// "/" is the index, README.md; a folder is its README.md. Everything else is by its path.
  [[nodiscard]] serve::Response answer(const serve::Request& request,
                                       const serve::Guard& guard) const;

 private:
  struct File {
    std::string_view type;
    std::string body;
  };
  std::map<std::string, File> files_;  ///< by the path of a request: "/recipes/does_it_fit.md"
};

}  // namespace foretrace::explorer
