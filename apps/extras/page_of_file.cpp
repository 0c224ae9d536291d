#include "apps/extras/page_of_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/extras/federated/federated.h"
#include "apps/extras/federated/federated_page.h"
#include "apps/extras/frames/streams.h"
#include "apps/extras/frames/streams_page.h"
#include "apps/extras/mapping/mapping.h"
#include "apps/extras/mapping/mapping_page.h"
#include "apps/extras/storage/storage.h"
#include "apps/extras/storage/storage_page.h"
#include "apps/report/pages/serving.h"
#include "apps/scheduling/schedule.h"
#include "apps/serving/serving.h"
#include "sim/core/config.h"
#include "sim/core/params.h"
#include "trace/formats/common/own_files.h"

namespace foretrace::report {
namespace {

Result<Page> served(const Catalogue& catalogue, const std::string& path) {
  FORETRACE_TRY(const auto serving, read_serving(catalogue, path));
  const ServingAnswer answer = run_serving(serving);
  return serving_page({serving, answer});
}

Result<Page> streamed(const Catalogue& catalogue, const std::string& path) {
  FORETRACE_TRY(const auto streams, read_streams(catalogue, path));
  FORETRACE_TRY(const auto answer, run_streams(streams));
  return streams_page({streams, answer});
}

Result<Page> mapped(const Catalogue& catalogue, const std::string& path) {
  FORETRACE_TRY(const auto mapping, read_mapping(catalogue, path));
  FORETRACE_TRY(const auto answer, run_mapping(mapping));
  return mapping_page({mapping, answer});
}

Result<Page> stored(const Catalogue& /*catalogue*/, const std::string& path) {
  FORETRACE_TRY(const auto input, read_stored_input(path));
  return storage_page({input, run_stored_input(input)});
}

Result<Page> federated_rounds(const Catalogue& /*catalogue*/, const std::string& path) {
  FORETRACE_TRY(const auto run, read_federated(path));
  FORETRACE_TRY(const auto figures, run_federated(run));
  return federated_page({run, figures});
}

// What reads, runs and shows a file of this kind; null: jobs.
using Answer = Result<Page> (*)(const Catalogue&, const std::string&);
struct FileKind {
  std::string_view schema;
  Answer answer = nullptr;
};
constexpr std::array<FileKind, 6> kinds = {{{scheduling::schedule_schema, nullptr},
                                            {serving_schema, served},
                                            {streams_schema, streamed},
                                            {storage_schema, stored},
                                            {federated_schema, federated_rounds},
                                            {mapping_schema, mapped}}};

// Of any version: its reader tells which it knows. Null: it is none of these.
const FileKind* kind_of(const std::string& path) {
  const auto* const found = std::find_if(kinds.begin(), kinds.end(), [&](const FileKind& kind) {
    return names_schema(path, kind.schema.substr(0, kind.schema.find('/') + 1));
  });
  return found == kinds.end() ? nullptr : found;
}

// The reader of jobs tells of what is no object with a schema.
Status check_schema(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return ok_status();  // a pipe gives it once
  const auto text = read_config_text(path);
  const auto root = text.ok() ? parse_config(*text) : Result<ConfigValue>(text.error());
  const ConfigValue* schema = root.ok() ? root->find("schema") : nullptr;
  if (schema == nullptr) return ok_status();
  std::vector<std::string_view> names;
  names.reserve(kinds.size());
  for (const FileKind& kind : kinds) names.push_back(kind.schema);
  const std::string taker = trace::formats::taker_of(schema->text, path);
  return Error{ErrorCode::bad_config,
               fmt::format("{}: /schema: {}{}, expected one of {}{}", path, schema->described(),
                           taker.empty() ? did_you_mean(schema->text, names) : "",
                           fmt::join(names, ", "), taker.empty() ? "" : "; " + taker)};
}

}  // namespace

Result<bool> holds_jobs(const std::string& path) {
  const FileKind* kind = kind_of(path);
  if (kind != nullptr) return kind->answer == nullptr;
  FORETRACE_TRY(check_schema(path));
  return true;
}

Result<Page> page_without_jobs(const Catalogue& catalogue, const std::string& path) {
  const FileKind* kind = kind_of(path);
  if (kind != nullptr && kind->answer != nullptr) return kind->answer(catalogue, path);
  return Error{ErrorCode::bad_config, fmt::format("{}: holds jobs", path)};
}

}  // namespace foretrace::report
