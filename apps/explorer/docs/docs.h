// The pages of examples/ in a browser: what `serve --docs` answers.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "apps/web/guard.h"
#include "apps/web/http.h"
#include "sim/core/result.h"

namespace foretrace::explorer {

/// Markdown files and pictures of a folder, and what they link to in it and beside it: pages, source
/// files as text, folders as lists. Read once. Thread-safe; a request opens no file.
class Docs {
 public:
  /// What is beside the folder is answered below this.
  static constexpr std::string_view beside = "/beside/";

  /// Error: the folder has no README.md.
  [[nodiscard]] static Result<Docs> read(const std::string& folder);

  /// "/" is the index, README.md; a folder is its README.md. Everything else is by its path.
  [[nodiscard]] serve::Response answer(const serve::Request& request,
                                       const serve::Guard& guard) const;

 private:
  friend class DocsReader;
  struct File {
    std::string_view type;
    std::string body;
  };
  std::map<std::string, File> files_;  ///< by the path of a request: "/recipes/does_it_fit.md"
};

}  // namespace foretrace::explorer
