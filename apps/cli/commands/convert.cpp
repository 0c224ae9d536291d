// foretrace convert: a trace in another format.
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/options.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/console.h"
#include "apps/report/section.h"
#include "apps/report/text.h"
#include "trace/formats/scrub.h"
#include "trace/formats/writer.h"
#include "trace/io/read_budget.h"

namespace foretrace::commands::convert_parts {
namespace {

using report::Value;

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
  FORETRACE_TRY(auto* writer,
                trace::choose_writer(options.out, options.format).with_context("convert"));
  FORETRACE_TRY(app::check_output(options.out, {&options.in, 1}));
  Result<trace::LoadedTrace> loaded =
      trace::read_trace(options.in, {.strict = options.trace.strict,
                                     .progress = app::reading_progress(options.in, options.common),
                                     .budget = std::make_shared<trace::ReadBudget>()});
  app::clear_progress();
  FORETRACE_TRY(loaded);
  app::log_warnings(loaded->report, {});
  Converted result;
  if (options.scrub) {
    result.scrubbed = trace::scrub(loaded->events);
  }
  const Status written = app::write_file(options.out, [&](const trace::ByteSink& sink) -> Status {
    FORETRACE_TRY(result.written, trace::write_trace(*loaded, *writer, options.out, sink));
    return ok_status();
  });
  FORETRACE_TRY(written);
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(options.out, error);
  result.bytes = error ? 0 : size;
  result.to = writer->name;
  return result;
}

report::Page page(const Options& options, const Converted& result) {
  report::Section section{
      .key = "written",
      .headline = fmt::format("wrote {} ({}, {}, {:.2f} MB)", options.out, result.to,
                              report::plural(result.written.events, "entry"),
                              static_cast<double>(result.bytes) / 1e6)};
  section.datum("path", Value::words(options.out));
  section.datum("format", Value::words(result.to));
  section.datum("entries", Value::count(result.written.events));
  section.datum("bytes", Value::count(result.bytes));
  section.datum("left_out", Value::texts(result.written.left_out));
  section.datum("frames_removed", Value::count(result.scrubbed.frames));
  section.datum("texts_changed", Value::count(result.scrubbed.names));
  if (options.scrub) {
    section.line("scrubbed", fmt::format("{} removed, {} changed",
                                         report::plural(result.scrubbed.frames, "Python frame"),
                                         report::plural(result.scrubbed.names, "text")));
  }
  for (const std::string& what : result.written.left_out) section.line("left out", what);
  return {.sections = {std::move(section)}};
}

app::Exit run(const Options& options) {
  const Result<Converted> result = convert(options);
  FORETRACE_TRY(result);
  return app::answer(page(options, *result), options.common);
}

void declare(app::Arguments& cli, Options& options) {
  cli.add_option("IN", options.in, "a recorded trace").required();
  cli.add_option("OUT", options.out, "the file to write; its suffix chooses the format").required();
  cli.add_option("--to", options.format, "the format, if the suffix does not choose it");
  cli.add_flag("--scrub", options.scrub,
               "remove paths, host names and call stacks, so that the trace can be shared");
  cli.add_flag("--strict", options.trace.strict, "fail if any event of a trace must be dropped");
  app::add_common(cli, options.common);
  cli.add_examples({{"foretrace convert trace.json.gz trace.json", "JSON that opens in Perfetto"},
                    {"foretrace convert trace.json.gz shared.json.gz --scrub",
                     "without paths and call stacks"}});
}

}  // namespace

extern constexpr CommandInfo info = {"convert", app::Group::record,
                                     "write a trace in another format",
                                     app::set_up<Options, declare, run>};

}  // namespace foretrace::commands::convert_parts
