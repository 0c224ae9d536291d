#include "apps/cli/output/outputs.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/cli/arguments/defaults.h"
#include "models/hardware/catalogue/config_files.h"
#include "sim/core/config.h"
#include "trace/inputs/read_input.h"
#include "trace/io/output_file.h"

namespace foretrace::app {
namespace {

namespace fs = std::filesystem;

/// What makes two names one file.
using Identity = std::pair<::dev_t, ::ino_t>;

std::optional<Identity> identity_of(const std::string& path) {
  struct stat status {};
  const int failed = path == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status);
  // Only a file can be lost: a terminal is read and written at once.
  return failed == 0 && S_ISREG(status.st_mode)
             ? std::optional(Identity{status.st_dev, status.st_ino})
             : std::nullopt;
}

void add_named_files(const ConfigValue& value, const std::string& document,
                     std::vector<std::string>& files) {
  std::error_code failed;
  // Names without a dot or a folder are those of the catalogue.
  if (value.kind == ConfigValue::Kind::text &&
      value.text.find_first_of("./") != std::string::npos) {
    std::string file = file_named_in(document, value.text);
    const bool is_new = std::find(files.begin(), files.end(), file) == files.end();
    if (is_new && fs::is_regular_file(file, failed)) files.push_back(std::move(file));
  }
  for (const ConfigValue& item : value.items) add_named_files(item, document, files);
}

/// The input itself and the files that reading it opens: those of a folder, of a list, and what a
/// document names, such as a scenario its cluster and that the files it imports.
std::vector<std::string> files_behind(const std::string& input) {
  std::vector<std::string> files = {input};
  std::error_code failed;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string path = files[i];
    if (!names_schema(path, "foretrace.")) continue;
    const auto text = read_config_text(path);
    const auto root = text.ok() ? parse_config(*text) : Result<ConfigValue>(text.error());
    if (root.ok()) add_named_files(*root, path, files);
  }
  if (fs::is_directory(input, failed)) {
    for (fs::directory_iterator at(input, failed), end; !failed && at != end;
         at.increment(failed)) {
      files.push_back(at->path().string());
    }
  } else if (const auto listing = trace::listing_of(input)) {
    for (const trace::ListedFile& file : listing->files) {
      files.push_back(file.path);
    }
  }
  return files;
}

}  // namespace

Status write_file(const std::string& path, const FillFile& fill) {
  FORETRACE_TRY(trace::OutputFile file, trace::OutputFile::create(path));
  bool kept = true;
  Status filled = fill([&](std::string_view text) {
    kept = file.write(text);
    return kept;
  });
  if (!filled.ok() && kept) return filled;
  return file.commit();  // says why, where a piece could not be kept
}

Status write_file(const std::string& path, std::string_view text) {
  return write_file(path, [text](const auto& sink) {
    static_cast<void>(sink(text));
    return ok_status();
  });
}

Status check_not_read(const std::string& output, const std::string& input) {
  const std::optional<Identity> own = identity_of(output);
  if (!own || identity_of(input) != own) return ok_status();
  return Error{ErrorCode::bad_usage,
               fmt::format("cannot write '{}': it is an input, too{}; expected another file",
                           output, input == output ? "" : fmt::format(", as '{}'", input))};
}

Status check_output(const std::string& output, std::span<const std::string> inputs) {
  if (output.empty()) return ok_status();
  if (output == "-") {
    return Error{ErrorCode::bad_usage,
                 "cannot write '-': expected the name of a file, such as /dev/stdout or ./-"};
  }
  // What is not there yet is read by nobody.
  const bool is_there = identity_of(output).has_value();
  for (std::size_t i = 0; is_there && i < inputs.size(); ++i) {
    for (const std::string& file : files_behind(inputs[i])) {
      FORETRACE_TRY(check_not_read(output, file));
    }
  }
  FORETRACE_TRY(check_not_read(output, defaults_path()));
  return trace::check_writable(output);
}

Status check_outputs(std::span<const std::string> outputs, std::span<const std::string> inputs) {
  std::error_code failed;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    FORETRACE_TRY(check_output(outputs[i], inputs));
    for (std::size_t other = 0; other < i && !outputs[i].empty(); ++other) {
      // Devices and pipes take what several write.
      const bool is_one =
          fs::weakly_canonical(outputs[i], failed) == fs::weakly_canonical(outputs[other], failed);
      if (is_one && (!fs::exists(outputs[i], failed) || fs::is_regular_file(outputs[i], failed))) {
        return Error{ErrorCode::bad_usage,
                     fmt::format("cannot write '{}': another output has the same name, expected "
                                 "one file for each",
                                 outputs[i])};
      }
    }
  }
  return ok_status();
}

std::vector<std::string> files_of_what_ifs(std::span<const std::string> what_ifs) {
  std::vector<std::string> files;
  for (const std::string& what_if : what_ifs) {
    if (what_if.starts_with('@')) {
      files.push_back(what_if.substr(1));
    }
  }
  return files;
}

}  // namespace foretrace::app
