// foretrace report: one self-contained page that simulates its graph where it is opened.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/options.h"
#include "apps/cli/output/console.h"
#include "apps/cli/output/outputs.h"
#include "apps/cli/page_answers.h"
#include "apps/explorer/page.h"

namespace foretrace::commands {
namespace {

struct Options {
  app::CommonOptions common;
  app::TraceOptions trace;
  app::PageOptions page;
  std::string output;
};

int write(const Options& options, app::PageAnswers answers) {
  Result<explorer::PageInput> input = app::page_input(options.page, options.trace, answers);
  if (!input.ok()) return app::failure(input.error());
  input->version = FORETRACE_VERSION;
  const Result<explorer::Page> page = explorer::make_page(*input);
  if (!page.ok()) return app::failure(page.error());
  const Status written =
      app::write_file(options.output, [&page](const std::function<bool(std::string_view)>& sink) {
        return sink(page->html) ? ok_status()
                                : Status(Error{ErrorCode::io, "the page could not be written"});
      });
  if (!written.ok()) return app::failure(written.error());
  for (const std::string& reason : page->left_out) app::tell("not in the page: " + reason);
  return app::answer(fmt::format("{}: {:.2f} MB, {} what-ifs to try in it\n", options.output,
                                 static_cast<double>(page->html.size()) / 1e6, page->carried));
}

int run(const Options& options) {
  app::start_logging(options.common);
  std::vector<std::string> inputs = app::files_of_what_ifs(options.page.apply);
  inputs.insert(inputs.end(), options.trace.paths.begin(), options.trace.paths.end());
  if (const Status status = app::check_outputs(std::array{options.output}, inputs); !status.ok()) {
    return app::failure(status.error());
  }
  Result<app::PageAnswers> answers = app::page_answers(options.page, options.trace, options.common);
  return answers.ok() ? write(options, *std::move(answers)) : app::failure(answers.error());
}

std::function<int()> setup(app::Arguments& cli) {
  const auto options = std::make_shared<Options>();
  app::add_trace(cli, options->trace);
  cli.add_option("-o,--output", options->output, "the page: one HTML file that needs nothing else")
      .type_name("FILE")
      .required();
  app::add_page_options(cli, options->page);
  app::add_run(cli, options->trace);
  app::add_common(cli, options->common);
  constexpr app::Example examples[] = {
      {"foretrace report trace.json.gz -o run.html", "a page to send, to look at and to play with"},
      {"foretrace report trace.json.gz --apply mixed_precision --apply fused_optimizer -o run.html",
       "it opens with these two together"}};
  cli.add_examples(examples);
  return [options] { return run(*options); };
}

}  // namespace

extern const CommandInfo report;
const CommandInfo report = {"report", "write a web page that shows a run and simulates what-ifs",
                            setup};

}  // namespace foretrace::commands
