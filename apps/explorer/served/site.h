// What `serve` answers: the page, and the calls of the page, each for one of the runs.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/explorer/page.h"
#include "apps/explorer/served/service.h"
#include "apps/web/guard.h"
#include "apps/web/http.h"

namespace foretrace::explorer {

/// A run that is served, and what it is called.
struct SiteRun {
  std::string name;
  std::shared_ptr<Service> service;
};

/// Reads a recording that a page sent: its file name and its bytes. The service is not prepared.
using ReadRun = std::function<Result<std::shared_ptr<Service>>(std::string_view name,
                                                               const std::string& bytes)>;

/// More than this is refused before it is read; of what else a page sends: serve::most_body_bytes.
inline constexpr std::size_t most_recording_bytes = std::size_t{256} * 1024 * 1024;
inline constexpr std::size_t most_runs = 32;

/// Thread-safe. "/" is the page; "/api/N/open", "/api/N/point" and "/api/N/rest" are about run N;
/// "/api/add" takes a recording, which becomes one more run.
class Site {
 public:
  /// At least one run, prepared.
  Site(std::vector<SiteRun> runs, ReadRun read, std::string_view version)
      : runs_(std::move(runs)), read_(std::move(read)), shell_(make_shell(version)) {}

  [[nodiscard]] serve::Response answer(const serve::Request& request, const serve::Guard& guard);

  /// Of a request whose head is there. Only who may ask may send a recording.
  [[nodiscard]] static std::size_t body_limit(const serve::Request& head,
                                              const serve::Guard& guard);

 private:
  [[nodiscard]] serve::Response call(const serve::Request& request);
  [[nodiscard]] serve::Response add(const serve::Request& request);
  [[nodiscard]] std::vector<std::string> names();

  std::mutex adding_;  // one at a time: reading takes memory
  std::mutex listing_;
  std::vector<SiteRun> runs_;
  ReadRun read_;
  Shell shell_;
};

}  // namespace foretrace::explorer
