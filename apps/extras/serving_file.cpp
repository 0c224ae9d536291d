// foretrace.serving/1: requests to a served model.
#include "apps/extras/file_kinds.h"
#include "apps/report/pages/cluster/serving.h"
#include "apps/serving/serving.h"

namespace foretrace::serving_parts {
namespace {

Result<report::Page> page(const Catalogue& catalogue, const std::string& path) {
  FORETRACE_TRY(const auto serving, read_serving(catalogue, path));
  FORETRACE_TRY(const ServingAnswer answer, run_serving(serving));
  return report::serving_page({serving, answer});
}

}  // namespace

extern constexpr FileKind info = {.schema = serving_schema,
                                  .holds = "requests to a served model",
                                  .command = "simulate",
                                  .page = page};

}  // namespace foretrace::serving_parts
