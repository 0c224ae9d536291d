// What a command answers, apart from how it is written: pages of sections of facts and tables. The
// text, JSON, Markdown and CSV of a section all come from here (writers.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/report/value.h"

namespace foretrace::report {

/// On which pages a part of an answer stands. Documents have every part with a key.
enum class Show : std::uint8_t {
  always,
  details,  ///< with --details, and in Markdown
  brief,    ///< on the short page only: what stands for details
  never     ///< in documents only
};

/// One value with a name.
struct Fact {
  std::string key{};    ///< in documents; empty: on pages only
  std::string label{};  ///< on pages; empty: in documents only
  Value value{};
  Show show = Show::always;
  bool warns = false;   ///< deserves a second look
  std::string typed{};  ///< the option for it, behind the value: on pages of text only
};

/// What becomes of a column on a page too narrow for all.
enum class Narrow : std::uint8_t {
  kept,     ///< goes below its row, as "TITLE VALUE", after all others
  below,    ///< goes below its row first
  left_out  ///< is only named: the table answers without it
};

struct Column {
  std::string key{};    ///< in documents and CSV; empty: on pages only
  std::string title{};  ///< on pages
  Show show = Show::always;
  bool adds_up = false;       ///< rows that a page leaves out are summed up in the last one
  std::int64_t scale_ns = 0;  ///< decimals of its times; 0: the section's, below 0: each its own
  bool is_prose = false;      ///< broken into lines where it is too long
  Narrow narrow = Narrow::kept;
};

struct Row {
  std::vector<Value> cells{};  ///< one per column; fewer: the others are empty
  std::string key{};           ///< in a table that is an object in documents
  std::vector<Row> below{};    ///< parts of this one
  Show show = Show::always;
  bool is_for_pages = false;  ///< not in documents
};

/// Rows of values. In a document an array of objects, or with `is_object` an object: by the keys of
/// its rows, of objects, or of single values if only one column has a key.
struct Table {
  std::string key{};    ///< in the section's object; "." is that object itself; empty: pages only
  std::string name{};   ///< as CSV; empty: its key, or the section's
  std::string title{};  ///< of the first column; empty: the section's
  std::vector<Column> columns{};
  std::vector<Row> rows{};
  bool is_object = false;
  std::string below_key{};  ///< of the rows below a row; empty: on pages only
  /// Rows that a page shows, and that a short page shows; it says how many are left out.
  std::size_t longest = std::numeric_limits<std::size_t>::max();
  std::size_t brief = std::numeric_limits<std::size_t>::max();
  Show show = Show::always;

  void add(std::vector<Value> cells) { rows.push_back({.cells = std::move(cells)}); }
};

/// A paragraph below a section.
struct Note {
  std::string text;
  std::string lead = "  ";  ///< in front of it; further lines are indented as far
  Show show = Show::always;
  std::string strong{};  ///< begins the text, in bold
  bool warns = false;
};

/// What belongs together: facts, tables whose columns lie below each other, notes.
struct Section {
  std::string key;         ///< its name; names its table as CSV
  std::string path{};      ///< where it is in documents: "baseline/breakdown"; empty: at the top
  std::string title{};     ///< empty: a continuation of the facts above
  std::string headline{};  ///< the answer in one line or a few: first on the page, and all that
                           ///< --quiet prints
  std::string doubt{};     ///< why the answer may be wrong, in a few words; ends the headline's
                           ///< first line, on pages only the word `doubtful` if there is no room
  std::string remark{};    ///< what puts the answer into perspective; below the headline, in lines
  std::vector<Fact> facts{};
  std::vector<Table> tables{};
  std::vector<Note> notes{};
  std::int64_t scale_ns = 0;  ///< decimals of all its times follow this one; 0: each its own
  Show show = Show::always;

  /// A fact for pages and documents.
  void fact(std::string fact_key, std::string label, Value value, Show where = Show::always) {
    facts.push_back({std::move(fact_key), std::move(label), std::move(value), where});
  }
  /// A fact for documents.
  void datum(std::string fact_key, Value value) {
    facts.push_back({std::move(fact_key), {}, std::move(value), Show::never});
  }
  /// A fact for pages; nothing if there is no text.
  void line(std::string label, std::string_view text, Show where = Show::always,
            std::string typed = {}) {
    if (text.empty()) return;
    facts.push_back({{}, std::move(label), Value::words(text), where, false, std::move(typed)});
  }
  void note(std::string text, Show where = Show::always) {
    notes.push_back({std::move(text), "  ", where});
  }
};
using Sections = std::vector<Section>;

/// All that a command answers.
struct Page {
  std::string schema{};                      ///< of its document; empty: not named in it
  std::vector<std::string> document_keys{};  ///< order of those that come first
  Sections sections{};
  std::string main_table{};  ///< what --csv prints unless another is named
  /// Several answers of one kind: documents have them as an array of this name.
  std::string parts_key{};
  std::string part_title{};  ///< of what the parts are, in CSV: "trace"
  std::string part_name{};   ///< of this part among others
  std::vector<Page> parts{};
  bool brief_hides_parts = false;  ///< the short page of text has its own sections only
};

/// Every first line of a page, each with a line end.
[[nodiscard]] std::string headlines_of(const Page& page);

}  // namespace foretrace::report
