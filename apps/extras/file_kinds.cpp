#include "apps/extras/file_kinds.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "apps/scheduling/schedule.h"
#include "sim/core/config.h"
#include "sim/core/params.h"
#include "trace/formats/common/own_files.h"

namespace foretrace {
namespace {

const FileKind* kind_of_jobs() {
  const auto kinds = file_kinds::all();
  return *std::find_if(kinds.begin(), kinds.end(), [](const FileKind* kind) {
    return kind->schema == scheduling::schedule_schema;
  });
}

// Names a schema that is none of ours to take, and what the file is.
Status check_schema(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return ok_status();  // a pipe gives it once
  const auto text = read_config_text(path);
  const auto root = text.ok() ? parse_config(*text) : Result<ConfigValue>(text.error());
  const ConfigValue* schema = root.ok() ? root->find("schema") : nullptr;
  if (schema == nullptr) return ok_status();
  std::vector<std::string_view> names;
  for (const FileKind* const kind : file_kinds::all()) names.push_back(kind->schema);
  const std::string_view kind = trace::formats::kind_of_own(schema->text);
  return Error{ErrorCode::bad_config,
               fmt::format("{}: /schema: {}{}, expected {}{}", path, schema->described(),
                           kind.empty() ? did_you_mean(schema->text, names) : "",
                           scheduling::schedule_schema,
                           kind.empty() ? "" : fmt::format("; it is {}", kind))};
}

}  // namespace

const FileKind* find_file_kind(const std::string& path) {
  const std::string schema = schema_of_file(path);
  for (const FileKind* const kind : file_kinds::all()) {
    if (schema.starts_with(kind->schema.substr(0, kind->schema.find('/') + 1))) return kind;
  }
  return nullptr;
}

Result<const FileKind*> schedule_file_kind(const std::string& path) {
  if (const FileKind* const kind = find_file_kind(path)) return kind;
  FORETRACE_TRY(check_schema(path));
  return kind_of_jobs();
}

}  // namespace foretrace
