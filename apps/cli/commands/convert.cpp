// foretrace convert: a trace in another format.
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/cli/command.h"
#include "apps/cli/console.h"
#include "apps/cli/help.h"
#include "apps/cli/options.h"
#include "apps/report/text.h"
#include "trace/formats/scrub.h"
#include "trace/formats/writer.h"

namespace foretrace::commands {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  app::CommonOptions common;
  app::TraceOptions trace;
  std::string in;
  std::string out;
  std::string format;
  bool scrub = false;
};

struct Converted {
  std::string_view to;
  trace::WriteReport written;
  trace::ScrubReport scrubbed;
  std::uintmax_t bytes = 0;
};

Result<Converted> convert(const Options& options) {
  Result<const trace::WriterInfo*> writer = trace::choose_writer(options.out, options.format);
  if (!writer.ok()) {
    return std::move(writer).error().with_context("convert");
  }
  if (Status status = app::check_output(options.out, {&options.in, 1}); !status.ok()) {
    return std::move(status).error();
  }
  const driver::LoadOptions load = app::load_options(options.in, options.trace, options.common);
  Result<trace::LoadedTrace> loaded =
      trace::read_trace(options.in, {.strict = options.trace.strict, .progress = load.progress});
  app::clear_progress();
  if (!loaded.ok()) {
    return std::move(loaded).error();
  }
  app::log_warnings(loaded->report, {});
  Converted result;
  if (options.scrub) {
    result.scrubbed = trace::scrub(loaded->events);
  }
  const Status written = app::write_file(options.out, [&](const trace::ByteSink& sink) -> Status {
    auto report = trace::write_trace(*loaded, **writer, options.out, sink);
    if (!report.ok()) {
      return std::move(report).error();
    }
    result.written = *std::move(report);
    return ok_status();
  });
  if (!written.ok()) {
    return written.error();
  }
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(options.out, error);
  result.bytes = error ? 0 : size;
  result.to = (*writer)->name;
  return result;
}

std::string page(const Options& options, const Converted& result) {
  std::string text = fmt::format("wrote {} ({}, {}, {:.2f} MB)\n", options.out, result.to,
                                 app::plural(result.written.events, "entry"),
                                 static_cast<double>(result.bytes) / 1e6);
  if (options.common.quiet) {
    return text;
  }
  if (options.scrub) {
    text += fmt::format("  scrubbed  {} removed, {} changed\n",
                        app::plural(result.scrubbed.frames, "Python frame"),
                        app::plural(result.scrubbed.names, "text"));
  }
  for (const std::string& what : result.written.left_out) {
    text += app::paragraph("  left out  ", what);
  }
  return text;
}

int run(const Options& options) {
  app::start_logging(options.common);
  const Result<Converted> result = convert(options);
  if (!result.ok()) {
    return app::failure(result.error());
  }
  if (options.common.json) {
    const Json document = {{"path", options.out},
                           {"format", result->to},
                           {"entries", result->written.events},
                           {"bytes", result->bytes},
                           {"left_out", result->written.left_out},
                           {"frames_removed", result->scrubbed.frames},
                           {"texts_changed", result->scrubbed.names}};
    return app::answer(document.dump(2) + "\n");
  }
  return app::answer(page(options, *result));
}

std::function<int()> setup(app::Arguments& cli) {
  const auto options = std::make_shared<Options>();
  cli.add_option("IN", options->in, "a recorded trace").required();
  cli.add_option("OUT", options->out, "the file to write; its name says the format").required();
  cli.add_option("--to", options->format, "the format, if the name does not say it");
  cli.add_flag("--scrub", options->scrub,
               "leave out paths, host names and call stacks, for a trace to be shared");
  cli.add_flag("--strict", options->trace.strict,
               "refuse a trace with any event that must be dropped");
  app::add_common(cli, options->common);
  constexpr app::Example examples[] = {
      {"foretrace convert trace.json.gz trace.json", "JSON that opens in Perfetto"},
      {"foretrace convert trace.json.gz shared.json.gz --scrub", "without paths and call stacks"}};
  cli.add_examples(examples);
  return [options] { return run(*options); };
}

}  // namespace

extern const CommandInfo convert;
const CommandInfo convert = {"convert", "writes a trace in another format", setup};

}  // namespace foretrace::commands
