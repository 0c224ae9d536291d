// foretrace serve: the page of a run on this machine, with the engine behind it.
#include <csignal>
#include <cstdint>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/names/configs.h"
#include "apps/cli/options.h"
#include "apps/cli/output/console.h"
#include "apps/cli/page_answers.h"
#include "apps/explorer/service.h"
#include "apps/serve/guard.h"
#include "apps/serve/server.h"

namespace foretrace::commands::serve_parts {
namespace {

struct Options {
  app::CommonOptions common;
  app::TraceOptions trace;
  app::PageOptions page;
  std::size_t port = 0;
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

int serve_page(const Options& options, const serve::Server& server, explorer::Service& service) {
  const Result<std::string> token = serve::make_token();
  if (!token.ok()) return app::failure(token.error());
  const serve::Guard guard{server.port(), *token};
  const EndSignals end;
  if (end.descriptor() < 0) {
    return app::failure({ErrorCode::io, "serve: the system gives no descriptor for signals"});
  }
  const std::string address = fmt::format("http://127.0.0.1:{}/#token={}", guard.port, guard.token);
  const int told = app::answer(
      options.common.json
          ? fmt::format("{{\"schema\": \"foretrace.serve/1\", \"url\": \"{}\"}}\n", address)
          : address + "\n");
  if (told != app::exit_done) return told;
  if (!options.common.quiet) app::tell("open the address in a browser; ctrl-C ends");
  const Status ran =
      server.run([&](const serve::Request& request) { return service.answer(request, guard); },
                 end.descriptor(), [&end] { end.let_next_kill(); });
  return ran.ok() ? app::exit_done : app::failure(ran.error());
}

int run(const Options& options) {
  app::start_logging(options.common);
  const Result<serve::Server> server =
      serve::Server::listen(static_cast<std::uint16_t>(options.port));
  if (!server.ok()) return app::failure(server.error());
  Result<app::PageAnswers> answers = app::page_answers(options.page, options.trace, options.common);
  if (!answers.ok()) return app::failure(answers.error());
  Result<explorer::PageInput> input = app::page_input(options.page, options.trace, *answers);
  if (!input.ok()) return app::failure(input.error());
  input->version = FORETRACE_VERSION;
  const Result<driver::HowTos>& how_tos = app::how_tos();
  if (!how_tos.ok()) return app::failure(how_tos.error());
  explorer::Service service(*input, *how_tos, answers->options);
  if (const Status ready = service.prepare(); !ready.ok()) return app::failure(ready.error());
  return serve_page(options, *server, service);
}

std::function<int()> setup(app::Arguments& cli) {
  const auto options = std::make_shared<Options>();
  app::add_trace(cli, options->trace);
  app::add_page_options(cli, options->page);
  cli.add_option("--port", options->port, "of 127.0.0.1; without it one that is free")
      .type_name("N")
      .in_range(1, 65535);
  app::add_run(cli, options->trace);
  app::add_common(cli, options->common);
  constexpr app::Example examples[] = {
      {"foretrace serve trace.json.gz",
       "prints an address; the page there stacks what-ifs, with their parameters"},
      {"foretrace serve rank0.json.gz rank1.json.gz", "the ranks of one job"}};
  cli.add_examples(examples);
  return [options] { return run(*options); };
}

constexpr CommandInfo info = {"serve", "show a run in a browser, with the engine behind the page",
                              setup};

}  // namespace
}  // namespace foretrace::commands::serve_parts

namespace foretrace::commands {
extern const CommandInfo serve;
constinit const CommandInfo serve = serve_parts::info;
}  // namespace foretrace::commands
