// The tables of nccl-tests 2.0 to 2.17 and of rccl-tests, which is made from it:
//   # nThread 1 nGpus 1 minBytes 1048576 maxBytes 4194304 step: 2(factor) ...
//   #  Rank  0 Group  0 Pid  51 on node-a device  0 [0x1b] NVIDIA H100 80GB HBM3
//   #       size    count   type  redop  root   time  algbw  busbw #wrong   time  algbw  busbw #wrong
//        1048576   262144  float    sum    -1  30.31  34.59  60.54      0  30.20  34.72  60.76      0
#include "models/hardware/collectives/calibration/collective_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace foretrace {
namespace {

constexpr std::size_t most_sizes = 1000;
constexpr std::size_t most_runs = 1000;
constexpr double most_log_bytes = 1e15;
constexpr double most_log_us = 1e12;

constexpr std::array<std::pair<std::string_view, CollectiveKind>, 9> programs = {
    {{"all_reduce_perf", CollectiveKind::all_reduce},
     {"all_gather_perf", CollectiveKind::all_gather},
     {"reduce_scatter_perf", CollectiveKind::reduce_scatter},
     {"alltoall_perf", CollectiveKind::all_to_all},
     {"broadcast_perf", CollectiveKind::broadcast},
     {"reduce_perf", CollectiveKind::reduce},
     {"sendrecv_perf", CollectiveKind::send_receive},
     {"gather_perf", CollectiveKind::gather},
     {"scatter_perf", CollectiveKind::scatter}}};

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(blanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(blanks, end);
  }
  return words;
}

std::optional<double> figure_of(std::string_view word) {
  double value = 0;
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool is_one = error == std::errc() && rest == word.data() + word.size();
  return is_one && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

bool is_digits(std::string_view word) {
  return !word.empty() &&
         std::all_of(word.begin(), word.end(), [](char one) { return one >= '0' && one <= '9'; });
}

bool is_time(std::string_view word) {
  return word.size() >= 8 && is_digits(word.substr(0, 2)) && word[2] == ':' && word[5] == ':';
}

bool is_date(std::string_view word) {
  return word.size() == 10 && is_digits(word.substr(0, 4)) && word[4] == word[7] &&
         (word[4] == '-' || word[4] == '/');
}

/// Bytes at the start of a line that a launcher or a collector of logs wrote: "[1,0]<stdout>:",
/// "[rank0]:" or "(pid=1)", "3:" of srun --label, "2025-05-22T07:36:17.123Z", "2025-05-22 07:36:17"
/// or its time alone.
std::size_t tag_of(std::string_view line) {
  constexpr std::size_t longest = 64;
  constexpr std::string_view stream = "<stdout>:";
  for (const auto& [open, close] : {std::pair{'[', ']'}, std::pair{'(', ')'}}) {
    const std::size_t end = line.find(close);
    if (!line.starts_with(open) || end >= longest) continue;
    const std::string_view rest = line.substr(end + 1);
    return end + 1 + (rest.starts_with(stream) ? stream.size() : rest.starts_with(':') ? 1 : 0);
  }
  const std::size_t digits = line.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return 0;
  const auto word_end = [line](std::size_t from) {
    return std::min(line.find_first_of(" \t", from), line.size());
  };
  const std::size_t blank = word_end(0);
  const std::string_view word = line.substr(0, blank);
  if (is_time(word)) return blank;
  constexpr std::size_t of_date = 10;
  if (word.size() > of_date && is_date(word.substr(0, of_date)) && word[of_date] == 'T') {
    return blank;
  }
  if (is_date(word) && blank < line.size()) {
    const std::size_t end = word_end(blank + 1);
    if (is_time(line.substr(blank + 1, end - blank - 1))) return end;
  }
  return line[digits] == ':' ? digits + 1 : 0;
}

/// Bytes of a name and what parts it from the line: "node-a:" of pdsh, "worker-0  |" of containers.
std::size_t name_of(std::string_view line, char delimiter) {
  const std::size_t name = line.find_first_of(" \t:|#");
  if (name == 0 || name == std::string_view::npos) return 0;
  const std::size_t at = delimiter == '|' ? line.find_first_not_of(" \t", name) : name;
  if (at == std::string_view::npos || line[at] != delimiter) return 0;
  const bool is_end = at + 1 == line.size() || line.find_first_of(" \t\r#", at + 1) == at + 1;
  return is_end ? at + 1 : 0;
}

/// Without such tags and without blanks; names are tags where `delimiter` is not 0.
std::string_view without_tag(std::string_view line, char delimiter) {
  const auto remove_blanks = [&line] {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  };
  remove_blanks();
  for (bool is_named = delimiter == 0;;) {
    std::size_t tag = tag_of(line);
    if (tag == 0 && !is_named) {
      tag = name_of(line, delimiter);
      is_named = true;
    }
    if (tag == 0) return line;
    line.remove_prefix(tag);
    remove_blanks();
  }
}

/// Without the mark of UTF-8 and without colours.
std::string plain_text(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  std::string plain;
  for (std::size_t at = text.find("\x1b["); at != std::string_view::npos; at = text.find("\x1b[")) {
    plain += text.substr(0, at);
    const std::size_t last = text.find_first_not_of("0123456789;", at + 2);
    text.remove_prefix(
        std::min(last == std::string_view::npos ? text.size() : last + 1, text.size()));
  }
  return plain.append(text);
}

/// The longest program that a line names: "all_gather_perf" holds another's name.
CollectiveKind program_in(std::string_view line) {
  CollectiveKind kind = CollectiveKind::none;
  std::size_t longest = 0;
  for (const auto& [name, one] : programs) {
    if (name.size() <= longest || line.find(name) == std::string_view::npos) continue;
    kind = one;
    longest = name.size();
  }
  return kind;
}

bool is_head(const std::vector<std::string_view>& words) {
  const auto has = [&words](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  return has("size") && has("count") && has("type") && has("time") && has("busbw");
}

/// How the lines of a text are tagged, as the head of its first table tells.
struct LogTags {
  bool has_table = false;
  char delimiter = 0;  ///< behind the name that lines begin with; 0: they have none
};

LogTags tags_of(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    for (const char delimiter : {'\0', ':', '|'}) {
      const std::string_view line = without_tag(text.substr(0, end), delimiter);
      if (line.starts_with('#') && is_head(words_of(line))) return {true, delimiter};
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

/// What a row ends with: times, bandwidths and wrong results.
bool has_figures_of_row(const std::vector<std::string_view>& words) {
  constexpr std::size_t of_group = 4;
  if (words.size() < of_group + 1) return false;
  return std::all_of(words.end() - of_group, words.end(), [](std::string_view word) {
    return word == "N/A" || figure_of(word).has_value();
  });
}

class LogReader {
 public:
  LogReader(std::string_view text, std::string where)
      : text_(text), where_(std::move(where)), delimiter_(tags_of(text).delimiter) {}

  Result<std::vector<CollectiveLog>> read() {
    while (!text_.empty()) {
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      ++line_;
      FORETRACE_TRY(take(without_tag(text_.substr(0, end), delimiter_)));
      text_.remove_prefix(std::min(end + 1, text_.size()));
    }
    close();
    if (runs_.empty()) return mistake("no row of a test, expected a size, a time and bandwidths");
    return std::move(runs_);
  }

 private:
  [[nodiscard]] Error mistake(const std::string& what) const {
    return Error{ErrorCode::bad_format, fmt::format("{}: {}", where_, what)};
  }
  [[nodiscard]] Error at_line(const std::string& what) const {
    return Error{ErrorCode::bad_format, fmt::format("{}:{}: {}", where_, line_, what)};
  }

  Status take(std::string_view line) {
    const auto words = words_of(line);
    if (words.empty()) return ok_status();
    if (const CollectiveKind kind = program_in(line); kind != CollectiveKind::none) {
      begin();
      run_.kind = kind;
    }
    if (line.starts_with('#')) {
      take_comment(words);
      return ok_status();
    }
    if (const auto at = line.find("NCCL version "); at != std::string_view::npos) {
      const auto version = words_of(line.substr(at + std::string_view("NCCL version ").size()));
      if (!version.empty()) run_.library = fmt::format("NCCL {}", version.front());
    }
    take_ranks(words);
    if (!is_in_table_) return ok_status();
    if (is_digits(words.front())) return take_row(words);
    run_.damaged += has_figures_of_row(words) ? 1 : 0;
    return ok_status();
  }

  /// "NCCL INFO comm 0x1 rank 0 nranks 16", where no rank has a line of its own.
  void take_ranks(const std::vector<std::string_view>& words) {
    const auto found = std::find(words.begin(), words.end(), "nranks");
    if (found == words.end() || found + 1 == words.end() || !is_digits(*(found + 1))) return;
    const auto ranks = figure_of(*(found + 1));
    constexpr double most_ranks = 1e6;
    if (ranks && *ranks <= most_ranks) run_.ranks = static_cast<std::uint32_t>(*ranks);
  }

  /// What comes before a table belongs to the run of that table.
  void begin() {
    if (!run_.bytes.empty()) close();
  }
  void close() {
    is_in_table_ = false;
    if (!run_.bytes.empty()) {
      if (!ranks_.empty()) run_.ranks = static_cast<std::uint32_t>(ranks_.size());
      if (!hosts_.empty()) run_.nodes = static_cast<std::uint32_t>(hosts_.size());
      runs_.push_back(std::move(run_));
      ranks_.clear();
      hosts_.clear();
    }
    run_ = {};
  }

  void take_comment(const std::vector<std::string_view>& words) {
    if (words.size() > 1 && words[1] == "nThread") begin();
    if (is_head(words)) {
      begin();
      is_in_table_ = true;
    }
    const auto rank = std::find(words.begin(), words.end(), "Rank");
    const auto on = std::find(words.begin(), words.end(), "on");
    if (rank + 1 < words.end() && on != words.end() && on + 1 != words.end() &&
        is_digits(*(rank + 1))) {
      begin();
      ranks_.emplace(*(rank + 1));
      hosts_.emplace(*(on + 1));
    }
  }

  /// Two groups of time, bandwidths and wrong results at the end of the line; in older tests one.
  Status take_row(const std::vector<std::string_view>& words) {
    constexpr std::size_t of_row = 3;
    constexpr std::size_t of_group = 4;
    if (words.size() < of_row + of_group) {
      return at_line(
          fmt::format("got {} words, expected a size, its count and type, a time and "
                      "bandwidths",
                      words.size()));
    }
    const auto bytes = figure_of(words.front());
    if (!bytes || !(*bytes <= most_log_bytes)) {
      return at_line(fmt::format("size: got {}, expected at most 1e15 B", words.front()));
    }
    if (*bytes == 0) return ok_status();
    const bool has_two = words.size() >= of_row + 2 * of_group;
    std::size_t group = words.size() - (has_two ? 2 : 1) * of_group;
    std::optional<double> us = time_at(words, group, *bytes);
    if (!us && has_two) {
      group = words.size() - of_group;
      us = time_at(words, group, *bytes);
    }
    if (!us) {
      return at_line(
          fmt::format("{} B: got no time that matches its bandwidth, expected us, "
                      "GB/s, GB/s and wrong results",
                      words.front()));
    }
    // "N/A" where nothing was checked; older tests print the largest error, such as 2e-07.
    const std::string_view wrong = words[group + of_group - 1];
    if (is_digits(wrong) && wrong.find_first_not_of('0') != std::string_view::npos) {
      return at_line(
          fmt::format("{} B: got {} wrong results, expected none", words.front(), wrong));
    }
    return add(*bytes, *us);
  }

  /// us that its own bandwidth, printed with two digits, does not contradict.
  static std::optional<double> time_at(const std::vector<std::string_view>& words, std::size_t at,
                                       double bytes) {
    const auto us = figure_of(words[at]);
    const auto rate = figure_of(words[at + 1]);
    if (!us || !rate || !(*us > 0) || !(*us <= most_log_us)) return std::nullopt;
    constexpr double rounding = 0.011;  // of GB/s
    constexpr double share = 0.02;
    const double calculated = bytes / *us * 1e-3;
    if (std::abs(calculated - *rate) > rounding + share * calculated) return std::nullopt;
    return us;
  }

  Status add(double bytes, double us) {
    if (!run_.bytes.empty() && bytes == run_.bytes.back()) {
      // Several iterations of one size: the fastest has least of others in it.
      run_.ns.back() = std::min(run_.ns.back(), us * 1e3);
      return ok_status();
    }
    if (!run_.bytes.empty() && bytes < run_.bytes.back()) {
      return at_line(
          fmt::format("{:.0f} B after {:.0f} B, expected rising sizes", bytes, run_.bytes.back()));
    }
    if (run_.bytes.size() >= most_sizes || runs_.size() >= most_runs) {
      return at_line(fmt::format("expected at most {} sizes and {} runs", most_sizes, most_runs));
    }
    run_.bytes.push_back(bytes);
    run_.ns.push_back(us * 1e3);
    return ok_status();
  }

  std::string_view text_;
  std::string where_;
  char delimiter_ = 0;
  std::size_t line_ = 0;
  bool is_in_table_ = false;
  std::set<std::string, std::less<>> ranks_;
  std::set<std::string, std::less<>> hosts_;
  CollectiveLog run_;
  std::vector<CollectiveLog> runs_;
};

}  // namespace

bool is_collective_log(std::string_view text) { return tags_of(plain_text(text)).has_table; }

Result<std::vector<CollectiveLog>> parse_collective_logs(std::string_view text,
                                                         const std::string& where) {
  const std::string plain = plain_text(text);
  return LogReader(plain, where).read();
}

}  // namespace foretrace
