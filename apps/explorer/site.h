// What `serve` answers: the page, and the calls of the page, each for one of the runs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/explorer/page.h"
#include "apps/explorer/service.h"
#include "apps/web/guard.h"
#include "apps/web/http.h"

namespace foretrace::explorer {

/// Thread-safe. "/" is the page; "/api/N/open", "/api/N/point" and "/api/N/rest" are about run N.
class Site {
 public:
  /// The services live longer; at least one.
  Site(std::span<const std::unique_ptr<Service>> runs, std::string_view version)
      : runs_(runs), shell_(make_shell(version)) {}

  [[nodiscard]] serve::Response answer(const serve::Request& request,
                                       const serve::Guard& guard) const;

 private:
  [[nodiscard]] serve::Response call(const serve::Request& request) const;

  std::span<const std::unique_ptr<Service>> runs_;
  Shell shell_;
};

}  // namespace foretrace::explorer
