// foretrace serve: the page of a run, or of several, on this machine, with the engine behind it.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <malloc.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/names/configs.h"
#include "apps/cli/options.h"
#include "apps/cli/output/console.h"
#include "apps/cli/page_answers.h"
#include "apps/explorer/docs/docs.h"
#include "apps/explorer/served/service.h"
#include "apps/explorer/served/site.h"
#include "apps/web/guard.h"
#include "apps/web/server.h"
#include "sim/core/text.h"

namespace foretrace::commands::serve_parts {
namespace {

struct Options {
  app::CommonOptions common;
  app::TraceOptions trace;
  app::PageOptions page;
  std::size_t port = 0;
  bool each = false;
  bool docs = false;
};

/// A descriptor that can be read once the program is asked to end.
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    descriptor_ = ::signalfd(-1, &signals_, SFD_CLOEXEC);
  }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;
  ~EndSignals() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int descriptor() const { return descriptor_; }

  /// The first signal was heard; the next one ends the program at once.
  void let_next_kill() const {
    signalfd_siginfo heard{};
    static_cast<void>(::read(descriptor_, &heard, sizeof(heard)) == 0);
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
  }

 private:
  sigset_t signals_{};
  int descriptor_ = -1;
};

/// `site` answers requests: the page of runs, or the documentation.
template <typename Site>
app::Exit serve_page(const Options& options, serve::Server& server, Site& site) {
  FORETRACE_TRY(const std::string token, serve::make_token());
  const serve::Guard guard{server.port(), token};
  if constexpr (std::is_same_v<Site, explorer::Site>) {  // it takes recordings, the other nothing
    server.limit_bodies([&](const serve::Request& head) { return Site::body_limit(head, guard); });
  }
  const EndSignals end;
  if (end.descriptor() < 0) {
    return Error{ErrorCode::io, "serve: no file descriptor for signals"};
  }
  const std::string address =
      options.docs ? fmt::format("http://127.0.0.1:{}/", guard.port)
                   : fmt::format("http://127.0.0.1:{}/#token={}", guard.port, guard.token);
  const int told = app::answer(
      options.common.json
          ? fmt::format("{{\"schema\": \"foretrace.serve/1\", \"url\": \"{}\"}}\n", address)
          : address + "\n");
  if (told != app::exit_done) return told;
  if (!options.common.quiet) app::tell("open the address in a browser; ctrl-C ends");
  const Status ran =
      server.run([&](const serve::Request& request) { return site.answer(request, guard); },
                 end.descriptor(), [&end] { end.let_next_kill(); });
  FORETRACE_TRY(ran);
  return app::exit_done;
}

/// Files that are read as one run each, or all as the ranks of one.
std::vector<std::vector<std::string>> runs_of(const Options& options) {
  if (!options.each) return {options.trace.paths};
  std::vector<std::vector<std::string>> runs;
  for (const std::string& path : options.trace.paths) runs.push_back({path});
  return runs;
}

/// What the page calls them: the last part of a path, or all of it where two end alike.
std::vector<std::string> names_of(const std::vector<std::vector<std::string>>& runs) {
  std::vector<std::string> names;
  names.reserve(runs.size());
  for (const std::vector<std::string>& run : runs) names.emplace_back(file_name_of(run.front()));
  std::vector<std::string> told = names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty() || std::ranges::count(names, names[i]) > 1) told[i] = runs[i].front();
  }
  return told;
}

/// A folder of its own for one file, gone at the end.
class OneFile {
 public:
  static Result<OneFile> write(std::string_view name, std::string_view bytes) {
    std::error_code error;
    std::string folder =
        (std::filesystem::temp_directory_path(error) / "foretrace-XXXXXX").string();
    if (error || ::mkdtemp(folder.data()) == nullptr) {
      return Error{ErrorCode::io, "serve: no folder for the recording that was sent"};
    }
    OneFile file(std::move(folder), name);
    std::ofstream out(file.path(), std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush())
      return Error{ErrorCode::io, "serve: the recording that was sent cannot be stored"};
    return file;
  }
  OneFile(OneFile&& other) noexcept
      : folder_(std::exchange(other.folder_, {})), name_(std::move(other.name_)) {}
  OneFile& operator=(OneFile&&) = delete;
  OneFile(const OneFile&) = delete;
  OneFile& operator=(const OneFile&) = delete;
  ~OneFile() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::string path() const { return folder_ + "/" + name_; }
  /// A message about the file as the page called it.
  [[nodiscard]] std::string told(std::string message) const {
    for (std::size_t at = message.find(folder_ + "/"); at != std::string::npos;
         at = message.find(folder_ + "/")) {
      message.erase(at, folder_.size() + 1);
    }
    return message;
  }

 private:
  OneFile(std::string folder, std::string_view name) : folder_(std::move(folder)), name_(name) {}
  std::string folder_;
  std::string name_;
};

/// What serves one run.
Result<std::shared_ptr<explorer::Service>> service_of(const Options& options,
                                                      const std::vector<std::string>& paths) {
  app::TraceOptions trace = options.trace;
  trace.paths = paths;
  FORETRACE_TRY(explorer::PageInput input, app::page_of_run(options.page, trace, options.common));
  input.version = FORETRACE_VERSION;
  const Result<HowTos>& how_tos = app::how_tos();  // for as long as the program runs
  if (!how_tos.ok()) return how_tos.error();
  return std::make_shared<explorer::Service>(std::move(input), *how_tos);
}

/// A recording that a page sent.
Result<std::shared_ptr<explorer::Service>> sent_run(const Options& options, std::string_view name,
                                                    const std::string& bytes) {
  FORETRACE_TRY(const OneFile file, OneFile::write(name, bytes));
  auto service = service_of(options, {file.path()});
  if (!service.ok()) return Error{service.error().code, file.told(service.error().message)};
  return service;
}

/// A question takes as much memory as the one before: what one gives back serves the next, rather
/// than the system, which would clear its pages anew.
void keep_memory() {
#ifdef __GLIBC__
  constexpr int most_kept = 128 * 1024 * 1024;
  constexpr int least_mapped = 32 * 1024 * 1024;
  mallopt(M_TRIM_THRESHOLD, most_kept);     // NOLINT(concurrency-mt-unsafe): before any thread
  mallopt(M_MMAP_THRESHOLD, least_mapped);  // NOLINT(concurrency-mt-unsafe)
#endif
}

app::Exit run(const Options& options) {
  keep_memory();
  FORETRACE_TRY(serve::Server server,
                serve::Server::listen(static_cast<std::uint16_t>(options.port)));
  if (options.docs) {
    // Beside the configs, in the source tree and where the program is installed.
    auto docs = explorer::Docs::read(app::config_directory() + "/../examples");
    FORETRACE_TRY(docs);
    return serve_page(options, server, *docs);
  }
  if (options.trace.paths.empty()) {
    return Error{ErrorCode::bad_usage, "serve: TRACE is required, or --docs"};
  }
  const std::vector<std::vector<std::string>> runs = runs_of(options);
  const std::vector<std::string> names = names_of(runs);
  std::vector<explorer::SiteRun> served;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    FORETRACE_TRY(auto service, service_of(options, runs[i]));
    FORETRACE_TRY((service)->prepare(names));
    served.push_back({names[i], std::move(service)});
  }
  explorer::Site site(
      std::move(served),
      [&options](std::string_view name, const std::string& bytes) {
        return sent_run(options, name, bytes);
      },
      FORETRACE_VERSION);
  return serve_page(options, server, site);
}

void declare(app::Arguments& cli, Options& options) {
  app::add_trace(cli, options.trace, false);
  app::add_page_options(cli, options.page);
  cli.add_flag("--each", options.each,
               "each TRACE (or folder) is a run of its own; the page switches between them");
  cli.add_flag("--docs", options.docs,
               "show the documentation instead: tutorial, recipes, studies");
  cli.add_option("--port", options.port, "port on 127.0.0.1 (a free one)")
      .type_name("N")
      .in_range(1, 65535);
  app::add_run(cli, options.trace);
  app::add_common(cli, options.common);
  cli.add_examples(
      {{"foretrace serve trace.json.gz",
        "prints an address; the page combines what-ifs and sets their parameters"},
       {"foretrace serve rank0.json.gz rank1.json.gz", "the ranks of one job"},
       {"foretrace serve --docs", "the documentation, in a browser"},
       {"foretrace serve --each before.json.gz after.json.gz job/", "three runs to choose from"}});
}

}  // namespace

extern constexpr CommandInfo info = {"serve", app::Group::look,
                                     "show runs in a browser and simulate what-ifs there",
                                     app::set_up<Options, declare, run>};

}  // namespace foretrace::commands::serve_parts
