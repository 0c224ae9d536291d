#include "trace/formats/scrub.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "sim/core/text.h"
#include "trace/formats/json/json_check.h"
#include "trace/formats/json/scan.h"

namespace foretrace::trace {
namespace {

constexpr std::string_view separators = " \t\"'()[]{},;:=<>|";
constexpr std::size_t longest_suffix = 4;

bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// "/data/x", "~/x", "../x", "C:\\x" (its part behind the colon), "src/train.py".
bool is_path(std::string_view word) {
  const std::size_t slash = word.find_last_of("/\\");
  if (slash == std::string_view::npos || slash + 1 == word.size()) return false;
  if (std::string_view("/\\~.").find(word.front()) != std::string_view::npos) return true;
  const std::size_t dot = word.rfind('.');
  if (dot == std::string_view::npos || dot < slash) return false;
  const std::string_view suffix = word.substr(dot + 1);
  return !suffix.empty() && suffix.size() <= longest_suffix &&
         std::all_of(suffix.begin(), suffix.end(), is_alphanumeric);
}

// "train.py(12): main"
bool is_frame_of_file(std::string_view name) {
  const std::size_t end = name.find("): ");
  const std::size_t begin = end == std::string_view::npos ? end : name.rfind('(', end);
  return begin != std::string_view::npos && end > begin + 1 &&
         std::all_of(name.begin() + static_cast<std::ptrdiff_t>(begin) + 1,
                     name.begin() + static_cast<std::ptrdiff_t>(end), is_digit);
}

bool tells_about_the_machine(std::string_view key) {
  return contains_any(lower_case(key),
                      {"stack", "file", "path", "host", "user", "dir", "command", "environ"});
}

// A JSON object without the members that tell about the machine.
std::string scrubbed_object(std::string_view json) {
  std::string padded(json);
  padded.resize(json.size() + formats::scan_padding, '\0');
  std::string out;
  formats::Members members(std::string_view(padded).substr(0, json.size()));
  while (members.next()) {
    if (!tells_about_the_machine(members.key().text)) {
      out += out.empty() ? "{\"" : ", \"";
      out += std::string(members.key().text) + "\": " + without_paths(members.value());
    }
  }
  return out.empty() ? out : out + "}";
}

// Every name anew, so that texts nothing refers to any more are gone.
class NameScrubber {
 public:
  explicit NameScrubber(const NameTable& old) : old_(old), known_(old.size(), none<NameId>) {}

  NameId plain(NameId id) {
    return keep(id, [](std::string_view text) { return without_paths(text); });
  }
  NameId object(NameId id) { return keep(id, scrubbed_object); }
  [[nodiscard]] NameTable take() && { return std::move(names_); }
  [[nodiscard]] std::uint64_t changed() const { return changed_; }

 private:
  template <typename Change>
  NameId keep(NameId id, const Change& change) {
    NameId& known = known_[index(id)];
    if (known == none<NameId>) {
      const std::string text = change(old_[id]);
      changed_ += text == old_[id] ? 0 : 1;
      known = names_.intern(text);
    }
    return known;
  }

  const NameTable& old_;
  NameTable names_;
  std::vector<NameId> known_;
  std::uint64_t changed_ = 0;
};

template <typename T>
void keep_rows(std::vector<T>& column, const std::vector<bool>& kept) {
  std::size_t next = 0;
  for (std::size_t row = 0; row < kept.size(); ++row) {
    if (kept[row]) {
      column[next++] = column[row];
    }
  }
  column.resize(next);
}

/// Rows of a table beside the events, which name them.
template <typename Row>
void keep_rows_of(std::vector<Row>& list, const std::vector<bool>& kept,
                  const std::vector<EventId>& now) {
  list.erase(std::remove_if(list.begin(), list.end(),
                            [&](const Row& row) { return !kept[index(row.event)]; }),
             list.end());
  for (Row& row : list) {
    row.event = now[index(row.event)];
  }
}

std::uint64_t remove_frames(EventTable& table) {
  const std::size_t rows = table.size();
  std::vector<bool> kept(rows);
  std::vector<EventId> now(rows);
  std::size_t next = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    kept[row] = table.kind[row] != EventKind::python_function ||
                !is_frame_of_file(table.names[table.name[row]]);
    now[row] = make_id<EventId>(next);
    next += kept[row] ? 1 : 0;
  }
  keep_rows_of(table.sequence_numbers, kept, now);
  keep_rows_of(table.record_functions, kept, now);
  keep_rows(table.kind, kept);
  keep_rows(table.name, kept);
  keep_rows(table.track, kept);
  keep_rows(table.start_ns, kept);
  keep_rows(table.duration_ns, kept);
  keep_rows(table.correlation, kept);
  keep_rows(table.external_id, kept);
  keep_rows(table.descriptor, kept);
  return rows - next;
}

}  // namespace

std::string without_paths(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find_first_of(separators), text.size());
    const std::string_view word = text.substr(0, length);
    out += is_path(word) ? word.substr(word.find_last_of("/\\") + 1) : word;
    if (length < text.size()) {
      out += text[length];
    }
    text.remove_prefix(std::min(text.size(), length + 1));
  }
  return out;
}

ScrubReport scrub(EventTable& table) {
  ScrubReport report;
  report.frames = remove_frames(table);
  NameScrubber names(table.names);
  for (NameId& name : table.name) {
    name = names.plain(name);
  }
  for (Track& track : table.tracks) {
    track.process_text = names.plain(track.process_text);
    track.number_text = names.plain(track.number_text);
    track.name = names.plain(track.name);
  }
  for (Descriptor& descriptor : table.descriptors) {
    descriptor.dims = names.plain(descriptor.dims);
    descriptor.types = names.plain(descriptor.types);
    descriptor.concrete = names.plain(descriptor.concrete);
    descriptor.text = names.object(descriptor.text);
  }
  report.names = names.changed();
  table.names = std::move(names).take();
  table.info.path = without_paths(table.info.path);
  auto& facts = table.info.environment;
  facts.erase(std::remove_if(facts.begin(), facts.end(),
                             [](const auto& fact) {
                               return fact.first == "command" || fact.first == "process";
                             }),
              facts.end());
  return report;
}

}  // namespace foretrace::trace
