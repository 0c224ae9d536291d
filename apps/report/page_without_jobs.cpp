#include "apps/report/page_without_jobs.h"

#include <fmt/format.h>

#include "apps/driver/fleet/federated.h"
#include "apps/driver/fleet/storage.h"
#include "apps/driver/mapping/mapping.h"
#include "apps/driver/serving/serving.h"
#include "apps/driver/serving/streams.h"
#include "apps/report/pages.h"

namespace foretrace::report {
namespace {

Result<Page> served(const Catalogue& catalogue, const std::string& path) {
  const auto serving = driver::read_serving(catalogue, path);
  if (!serving.ok()) return serving.error();
  const driver::ServingAnswer answer = driver::run_serving(*serving);
  return serving_page({*serving, answer});
}

Result<Page> streamed(const Catalogue& catalogue, const std::string& path) {
  const auto streams = driver::read_streams(catalogue, path);
  if (!streams.ok()) return streams.error();
  const auto answer = driver::run_streams(*streams);
  if (!answer.ok()) return answer.error();
  return streams_page({*streams, *answer});
}

Result<Page> mapped(const Catalogue& catalogue, const std::string& path) {
  const auto mapping = driver::read_mapping(catalogue, path);
  if (!mapping.ok()) return mapping.error();
  const auto answer = driver::run_mapping(*mapping);
  if (!answer.ok()) return answer.error();
  return mapping_page({*mapping, *answer});
}

Result<Page> stored(const Catalogue& /*catalogue*/, const std::string& path) {
  const auto input = driver::read_stored_input(path);
  if (!input.ok()) return input.error();
  return storage_page({*input, driver::run_stored_input(*input)});
}

Result<Page> federated_rounds(const Catalogue& /*catalogue*/, const std::string& path) {
  const auto run = driver::read_federated(path);
  if (!run.ok()) return run.error();
  const auto figures = driver::run_federated(*run);
  if (!figures.ok()) return figures.error();
  return federated_page({*run, *figures});
}

// What reads, runs and shows a file of this kind; null: it holds jobs.
using Answer = Result<Page> (*)(const Catalogue&, const std::string&);
Answer answer_of(const std::string& path) {
  if (driver::is_serving_file(path)) return served;
  if (driver::is_streams_file(path)) return streamed;
  if (driver::is_storage_file(path)) return stored;
  if (driver::is_federated_file(path)) return federated_rounds;
  return driver::is_mapping_file(path) ? mapped : nullptr;
}

}  // namespace

bool holds_no_jobs(const std::string& path) { return answer_of(path) != nullptr; }

Result<Page> page_without_jobs(const Catalogue& catalogue, const std::string& path) {
  const Answer answer = answer_of(path);
  if (answer != nullptr) return answer(catalogue, path);
  return Error{ErrorCode::bad_config, fmt::format("{}: holds jobs", path)};
}

}  // namespace foretrace::report
