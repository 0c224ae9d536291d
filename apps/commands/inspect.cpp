// foretrace inspect: what is in a trace, and where its time goes.
#include "apps/driver/inspect.h"

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/command.h"
#include "apps/console.h"
#include "apps/driver/documents.h"
#include "apps/help.h"
#include "apps/options.h"
#include "apps/report.h"

namespace foretrace::commands {
namespace {

struct Options {
  app::CommonOptions common;
  app::TraceOptions trace;
  std::vector<std::string> paths;
  bool memory = false;
  std::string allocator;
};

int run(const Options& options) {
  app::start_logging(options.common);
  std::vector<driver::Inspection> traces;
  const Result<AllocatorSettings> settings = parse_allocator_settings(options.allocator);
  if (!settings.ok()) {
    return app::failure(settings.error());
  }
  const driver::MemoryQuestion memory{options.memory, *settings};
  for (const std::string& path : options.paths) {
    Result<driver::Inspection> found =
        driver::inspect(path, app::load_options(path, options.trace, options.common), memory);
    app::clear_progress();
    if (!found.ok()) {
      return app::failure(found.error());
    }
    app::log_warnings(found->report,
                      found->graph ? found->graph->warnings : std::vector<std::string>{});
    traces.push_back(*std::move(found));
  }
  if (options.common.json) {
    return app::answer(driver::text_of(driver::inspect_document(traces)));
  }
  std::string text;
  for (const driver::Inspection& found : traces) {
    text += text.empty() || options.common.quiet ? "" : "\n";
    if (options.memory) {
      text += options.common.quiet ? app::memory_headline(found) + "\n" : app::memory_page(found);
      continue;
    }
    text += options.common.quiet ? app::inspect_headline(found) + "\n" : app::inspect_page(found);
  }
  return app::answer(text);
}

std::function<int()> setup(CLI::App& cli) {
  const auto options = std::make_shared<Options>();
  cli.add_option("TRACE", options->paths, "recorded traces, plain or .gz")->required();
  cli.add_flag("--strict", options->trace.strict,
               "refuse a trace with any event that must be dropped");
  cli.add_flag("--memory", options->memory,
               "who holds device memory at its peak, what the allocator reserves, where it fits");
  cli.add_option("--allocator", options->allocator,
                 "settings of the allocator, as in PYTORCH_CUDA_ALLOC_CONF")
      ->needs("--memory");
  app::add_common(cli, options->common);
  constexpr app::Example examples[] = {
      {"foretrace inspect trace.json.gz", "steps, devices, damage, and where the device time goes"},
      {"foretrace inspect trace.json.gz --memory", "the peak of device memory and who holds it"},
      {"foretrace inspect rank*.json.gz --quiet", "one line per trace"}};
  app::add_examples(cli, examples);
  return [options] { return run(*options); };
}

}  // namespace

extern const CommandInfo inspect;
const CommandInfo inspect = {"inspect", "what is in a trace, and where its device time goes",
                             setup};

}  // namespace foretrace::commands
