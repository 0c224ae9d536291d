#include "apps/cli/recordings.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/cli/output/outputs.h"
#include "trace/collect/recording.h"
#include "trace/collect/step_report.h"
#include "trace/collect/stop_report.h"
#include "trace/ftr/container.h"
#include "trace/inputs/read_input.h"
#include "trace/io/output_file.h"
#include "trace/io/text.h"

namespace foretrace::app {
namespace {

namespace fs = std::filesystem;
namespace collector = trace::collector;

std::optional<FileStamp> stamp_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileStamp{status.st_dev, status.st_ino,
                   std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec,
                   status.st_size};
}

/// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) {
      ::close(number_);
    }
  }
  void sync() const { static_cast<void>(::fsync(number_)); }
  /// Until it is closed; where the file system has no locks nothing happens.
  void lock() const { static_cast<void>(::flock(number_, LOCK_EX)); }

 private:
  int number_;
};

std::string text_of(const std::string& path, std::size_t longest) {
  std::ifstream file(path, std::ios::binary);
  std::string text(longest, '\0');
  file.read(text.data(), static_cast<std::streamsize>(longest));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

/// What would be replaced must be a recording, or empty.
Status check_replaced(const std::string& path, bool is_ours) {
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (!fs::exists(status) || (fs::is_regular_file(status) && is_ours)) return ok_status();
  return Error{
      ErrorCode::bad_usage,
      fmt::format(
          "'{}' exists and is not a recording, so it is not replaced; expected another name",
          path)};
}

bool is_recording(const std::string& path) {
  const std::string start = text_of(path, trace::ftr::magic.size());
  return start.empty() || start == trace::ftr::magic;
}

/// Files of this run with this end, by name.
std::vector<std::string> files_of_run(const std::string& begin, const std::string& end) {
  const fs::path path(begin);
  const std::string name = path.filename().string() + ".";
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator at(path.parent_path(), error), last; !error && at != last;
       at.increment(error)) {
    const std::string other = at->path().filename().string();
    if (other.starts_with(name) && other.ends_with(end)) {
      files.push_back(at->path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Launchers touch the device and do nothing on it: their files stay, but are no part of the job.
/// Gives how many they are; all stay if none has work.
std::size_t leave_out_idle(std::vector<std::string>& files) {
  const auto is_idle = [](const std::string& file) {
    return trace::ftr::number_of(collector::facts_of_file(file), collector::device_work_fact, -1) ==
           0;
  };
  std::vector<std::string> busy;
  std::remove_copy_if(files.begin(), files.end(), std::back_inserter(busy), is_idle);
  if (busy.empty()) return 0;
  const std::size_t idle = files.size() - busy.size();
  files = std::move(busy);
  return idle;
}

Status write_manifest(const std::string& path, const nlohmann::ordered_json& document) {
  FORETRACE_TRY(trace::OutputFile file,
                trace::OutputFile::create(path, trace::OutputAccess::owner_only));
  // Names and arguments need not be UTF-8.
  static_cast<void>(file.write(
      document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"));
  return file.commit();
}

nlohmann::ordered_json document_of(const Gathered& gathered, const ProgramEnd& end,
                                   std::span<const std::string> command) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::error_code error;
  for (const std::string& file : gathered.files) {
    list.push_back(
        {{"path", fs::path(file).filename().string()}, {"bytes", fs::file_size(file, error)}});
    const std::int64_t rank = trace::ftr::number_of(collector::facts_of_file(file), "rank", -1);
    if (rank >= 0) {
      list.back()["rank"] = rank;
    }
  }
  nlohmann::ordered_json document = {{"foretrace", "collect"}};
  if (!command.empty()) {
    document["command"] = command;
  }
  document["exit_code"] = end.signal == 0 ? nlohmann::ordered_json(end.code) : nullptr;
  document["signal"] = end.signal == 0 ? nullptr : nlohmann::ordered_json(end.signal);
  document["files"] = std::move(list);
  return document;
}

void read_notes(const std::string& begin, Gathered& gathered) {
  constexpr std::size_t longest = 1000;
  for (const std::string& note : files_of_run(begin, ".note")) {
    gathered.unrecorded.push_back(trace::shortened(text_of(note, longest), longest));
    std::error_code error;
    fs::remove(note, error);
  }
}

void read_ends(Gathered& gathered) {
  std::error_code error;
  for (const std::string& file : gathered.files) {
    const std::uintmax_t bytes = fs::file_size(file, error);
    gathered.bytes += error ? 0 : bytes;
    const trace::ftr::Pairs facts = collector::facts_of_file(file);
    for (const std::string& lacks : {collector::cut_warning(facts), collector::step_warning(facts),
                                     collector::stop_warning(facts)}) {
      if (!lacks.empty()) {
        gathered.warnings.push_back(fs::path(file).filename().string() + ": " + lacks);
      }
    }
  }
}

}  // namespace

Result<RecordingNames> name_recordings(const std::string& out,
                                       std::span<const std::string> command) {
  const fs::path path = fs::absolute(out).lexically_normal();
  std::error_code error;
  if (!fs::is_directory(path.parent_path(), error)) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("'{}': no such folder to write to", path.parent_path().string())};
  }
  RecordingNames names;
  names.out = out;
  names.manifest = out + ".json";
  for (const std::string& output : {names.out, names.manifest}) {
    for (const std::string& word : command) {
      FORETRACE_TRY(check_not_read(output, word));
    }
    const bool is_ours = output == out ? is_recording(output) : trace::is_list(output);
    FORETRACE_TRY(check_replaced(output, is_ours));
    FORETRACE_TRY(trace::check_writable(output));
  }
  // Room for host, process and suffix in a name of 255 bytes.
  constexpr std::size_t longest_stem = 120;
  const std::string stem = (path.extension() == ".ftr" ? path.stem() : path.filename()).string();
  names.begin =
      (path.parent_path() / (stem.substr(0, longest_stem) + "." + trace::random_digits(8)))
          .string();
  names.out_before = stamp_of(names.out);
  names.manifest_before = stamp_of(names.manifest);
  return names;
}

Gathered gather_recordings(const RecordingNames& names, const ProgramEnd& end,
                           std::span<const std::string> command) {
  Gathered gathered;
  read_notes(names.begin, gathered);
  gathered.files = files_of_run(names.begin, ".ftr");
  if (gathered.files.empty()) return gathered;
  for (const std::string& file : gathered.files) {
    Descriptor(file).sync();
  }
  gathered.idle = leave_out_idle(gathered.files);
  // One collect at a time looks whether the output is still what it was, and takes its place.
  const Descriptor folder(fs::path(names.begin).parent_path().string());
  folder.lock();
  gathered.out_was_taken =
      stamp_of(names.out) != names.out_before || stamp_of(names.manifest) != names.manifest_before;
  if (gathered.files.size() == 1 && !gathered.out_was_taken) {
    std::error_code error;
    fs::rename(gathered.files.front(), names.out, error);
    if (error) {
      gathered.warnings.push_back(
          fmt::format("cannot name it '{}': {}", names.out, error.message()));
    } else {
      gathered.files.front() = names.out;
    }
  }
  read_ends(gathered);
  const std::string manifest = gathered.out_was_taken ? names.begin + ".ftr.json" : names.manifest;
  const Status written = write_manifest(manifest, document_of(gathered, end, command));
  if (written.ok()) {
    gathered.manifest = manifest;
  } else {
    gathered.warnings.push_back(written.error().message);
  }
  folder.sync();
  return gathered;
}

}  // namespace foretrace::app
