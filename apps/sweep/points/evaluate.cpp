#include "apps/sweep/points/evaluate.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "apps/sweep/space/document.h"
#include "models/hardware/catalogue/config_files.h"

namespace foretrace::sweeping {
namespace {

std::uint64_t stirred(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * 0xff51afd7ed558ccdU;
  return state ^ (state >> 32U);
}

}  // namespace

void Digest::add(std::string_view bytes) {
  std::uint64_t word = bytes.size();
  low_ = stirred(low_, word);
  high_ = stirred(high_, ~word);
  for (std::size_t at = 0; at < bytes.size(); at += sizeof word) {
    word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
    low_ = stirred(low_, word);
    high_ = stirred(high_ + 0x632be59bd9b4e019U, word);
  }
}

Status Digest::add_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::error_code opened(file ? 0 : errno, std::generic_category());
  if (opened) {
    return Error{ErrorCode::io, fmt::format("cannot read '{}': {}", path, opened.message())};
  }
  std::vector<char> piece(std::size_t{1} << 20U);
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    add(std::string_view(piece.data(), static_cast<std::size_t>(file.gcount())));
  }
  if (file.bad()) return Error{ErrorCode::io, fmt::format("cannot read '{}'", path)};
  return ok_status();
}

Status Evaluation::note_inputs(std::vector<std::string> files, const Catalogue& catalogue) {
  const std::string& directory = catalogue.directory();
  for (const std::string_view folder :
       {"accelerators", "attention", "costs", "memories", "clusters", "kernel_tables",
        "offload_patterns", "models", "frameworks"}) {
    for (const std::string& name : config_names(directory, folder)) {
      files.push_back(config_file(directory, folder, name));
    }
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  // In an order of contents: another machine has the same files elsewhere.
  std::vector<std::string> contents;
  for (const std::string& file : files) {
    Digest one;
    FORETRACE_TRY(one.add_file(file));
    contents.push_back(one.text());
  }
  std::sort(contents.begin(), contents.end());
  Digest digest;
  for (const std::string& one : contents) digest.add(one);
  inputs_ = digest.text();
  return ok_status();
}

std::string Digest::text() const { return fmt::format("{:016x}{:016x}", low_, high_); }

Status try_values(const Sweep& sweep, const std::function<Status(const ConfigValue&)>& check) {
  std::vector<double> where(sweep.axes().size());
  for (std::size_t axis = 0; axis < where.size(); ++axis) {
    where[axis] = sweep.axes()[axis].is_listed() ? 0 : sweep.axes()[axis].from;
  }
  FORETRACE_TRY(check(sweep.document_at(where)).with_context(sweep.path));
  for (std::size_t axis = 0; axis < where.size(); ++axis) {
    const Axis& at = sweep.axes()[axis];
    if (axis > 0 && sweep.axes()[axis - 1].group == at.group) continue;  // tried with that one
    std::vector<double> one = where;
    for (std::size_t place = 1; place < at.values.size(); ++place) {
      for (std::size_t i = axis; i < one.size() && sweep.axes()[i].group == at.group; ++i) {
        one[i] = static_cast<double>(place);
      }
      if (Status status = check(sweep.document_at(one)); !status.ok()) {
        return Error{status.error().code,
                     fmt::format("{}: axis '{}', value {}: {}", sweep.path, at.name,
                                 in_quotes(Space::text_of(at, one[axis])), status.error().message)};
      }
    }
  }
  return ok_status();
}

Result<std::unique_ptr<const Evaluation>> prepare(const Sweep& sweep, CataloguePtr catalogue) {
  if (catalogue == nullptr) catalogue = std::make_shared<const Catalogue>();
  return sweep.subject == Subject::trace ? prepare_traces(sweep, std::move(catalogue))
                                         : prepare_scenarios(sweep, std::move(catalogue));
}

}  // namespace foretrace::sweeping
