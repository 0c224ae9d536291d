#include "trace/formats/common/describe_format.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/core/text.h"
#include "trace/formats/common/own_files.h"
#include "trace/formats/json/scan.h"
#include "trace/io/archive.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {
namespace {

struct Magic {
  std::string_view bytes;
  std::string_view meaning;
};
constexpr std::array magics = {
    Magic{"SQLite format 3", "an SQLite database (an Nsight Systems export?)"},
    Magic{"PK\x03\x04", "a zip archive: unpack it first"},
    Magic{"\x28\xB5\x2F\xFD", "compressed with zstd: unpack it first (or use gzip)"},
    Magic{"\xFD"
          "7zXZ",
          "compressed with xz: unpack it first (or use gzip)"},
    Magic{"BZh", "compressed with bzip2: unpack it first (or use gzip)"},
    Magic{"\x1F\x8B", "gzip inside gzip: unpack it once"},
    Magic{"7z\xBC\xAF", "a 7-Zip archive: unpack it first"},
    Magic{"\x04\x22\x4D\x18", "compressed with lz4: unpack it first (or use gzip)"},
    Magic{"\x7F"
          "ELF",
          "a program or library"},
    Magic{"MZ", "a program or library"},
    Magic{"%PDF", "a PDF document"},
    Magic{"\x89PNG", "a picture"},
    Magic{"\xFF\xD8\xFF", "a picture"},
    Magic{"GIF8", "a picture"},
    Magic{"PAR1", "a Parquet table"},
    Magic{"ARROW1", "an Arrow table"},
    Magic{"\x89HDF\r\n", "an HDF5 file"},
    Magic{"\x93NUMPY", "a NumPy array"},
    Magic{std::string_view("NVR\0", 4),
          "a report of Nsight Compute: it contains counters of single kernels and no timeline; "
          "record with Nsight Systems"},
    Magic{"<!DOCTYPE", "a web page: was the download an error page or a login page?"},
    Magic{"<!doctype", "a web page: was the download an error page or a login page?"},
    Magic{"<html", "a web page: was the download an error page or a login page?"},
    Magic{"<HTML", "a web page: was the download an error page or a login page?"},
    Magic{"<?xml", "an XML document"},
    Magic{"version https://git-lfs", "a Git LFS pointer: fetch the real file (git lfs pull)"},
    Magic{"QDSTRM", "an unfinished Nsight Systems recording: import it with nsys first"},
    Magic{"\xFF\xFE", "UTF-16 text, expected UTF-8"},
    Magic{"\xFE\xFF", "UTF-16 text, expected UTF-8"},
};

bool is_text(std::string_view prefix) {
  const auto part = prefix.substr(0, 4096);
  return std::none_of(part.begin(), part.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && !is_blank(c)) || c == '\x7F';
  });
}

// Counts depth over text that may be cut off; '\0' outside of any key ends it.
class OutlineWalk {
 public:
  explicit OutlineWalk(std::string_view text) : text_(text) {}

  // Behind the value at `at`; text_.size() if it is cut off.
  [[nodiscard]] std::size_t behind(std::size_t at) const {
    std::size_t depth = 0;
    bool in_string = false;
    for (; at < text_.size(); ++at) {
      const char c = text_[at];
      if (in_string) {
        if (c == '\\') {
          ++at;
        } else if (c == '"') {
          in_string = false;
          if (depth == 0) return at + 1;
        }
      } else if (c == '"') {
        in_string = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        if (depth <= 1) return depth == 0 ? at : at + 1;
        --depth;
      } else if (depth == 0 && ends_token(c)) {
        return at;
      }
    }
    return text_.size();
  }
  [[nodiscard]] std::size_t blanks(std::size_t at) const {
    while (at < text_.size() && is_blank(text_[at])) {
      ++at;
    }
    return at;
  }
  // Keys of the object at `at`; sets `end` behind it, or to the end of the text.
  std::vector<std::string> keys(std::size_t at, std::size_t& end) const {
    constexpr std::size_t most = 1000;
    std::vector<std::string> found;
    at = blanks(at + 1);
    end = text_.size();
    while (at < text_.size() && text_[at] == '"' && found.size() < most) {
      const std::size_t key_end = behind(at);
      if (key_end >= text_.size()) return found;
      found.push_back(unescaped(text_.substr(at + 1, key_end - at - 2)));
      if (found.back() == "traceEvents") {
        return found;  // says it all, and its value may be most of the prefix
      }
      at = blanks(key_end);
      if (at >= text_.size() || text_[at] != ':') return found;
      at = blanks(behind(blanks(at + 1)));
      if (at < text_.size() && text_[at] == '}') {
        end = at + 1;
        return found;
      }
      at = at < text_.size() && text_[at] == ',' ? blanks(at + 1) : text_.size();
    }
    if (at < text_.size() && text_[at] == '}') {
      end = at + 1;
    }
    return found;
  }

 private:
  std::string_view text_;
};

std::string describe_object(const JsonOutline& outline) {
  if (has_key(outline, "rocprofiler-sdk-tool")) return "the JSON of rocprofv3";
  if (has_key(outline, "schema") && has_key(outline, "nodes")) {
    return "a PyTorch execution trace without times: add the Kineto trace of the same run";
  }
  if (has_key(outline, "schema") && has_key(outline, "pid") && has_key(outline, "start_ts")) {
    return "a PyTorch execution trace without times: add the Kineto trace of the same run";
  }
  if (outline.keys.size() == 1 && has_key(outline, "attr")) {
    return "the JSON form of a Chakra execution trace";
  }
  if (has_key(outline, "segments") && has_key(outline, "device_traces")) {
    return "a PyTorch memory snapshot";
  }
  if (has_key(outline, "foretrace") && has_key(outline, "files")) {
    return "the list of recordings that foretrace collect writes: use one of those it lists";
  }
  if (outline.complete && !has_key(outline, "traceEvents")) {
    std::string keys;
    for (std::size_t i = 0; i < outline.keys.size() && i < 4; ++i) {
      keys += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", shortened(outline.keys[i], 40));
    }
    if (const std::string_view own = own_schema_of(outline.keys); !own.empty()) {
      return fmt::format("{} without its \"schema\": \"{}1\"", kind_of_own(own), own);
    }
    if (!outline.keys.empty()) return fmt::format("JSON with the keys {}", keys);
    if (outline.behind_brace == '/') return "JSON that begins with a comment";
    return outline.behind_brace == '}' ? "an empty JSON object"
                                       : "JSON with a key that is not in double quotes";
  }
  return {};
}

std::string describe_array(const JsonOutline& outline) {
  const std::string_view first = outline.first_element;
  // Its first list holds moments: numbers, not lists again.
  if (first.size() > 1 && first[0] == '[' && first[1] != '[') {
    return "a PyTorch memory timeline (it has bytes over time, no events)";
  }
  if (first.empty()) return outline.complete ? "an empty JSON array" : "";
  return first.starts_with("{") && has_key(outline, "ph") ? "" : "a JSON array of something else";
}

// Protocols 2 to 5 start with their number; the first object is mostly a frame, dict, list or
// tuple.
bool is_pickle(std::string_view prefix) {
  return prefix.size() > 2 && prefix[0] == '\x80' && prefix[1] >= 2 && prefix[1] <= 5 &&
         std::string_view("\x95}](ccX\x8A").find(prefix[2]) != std::string_view::npos;
}

std::string describe_binary(std::string_view prefix) {
  if (is_pickle(prefix)) return "a Python pickle: export what is in it as JSON";
  const std::string_view start = prefix.substr(0, 4096);
  if (contains(start, "QuadD") || contains(start, "Nsight Systems")) {
    return "a report of Nsight Systems: export it first (nsys export --type sqlite)";
  }
  if (contains(prefix.substr(0, 64), "\xEA\x01") && contains(prefix.substr(0, 64), "schema")) {
    return "a Chakra execution trace (protobuf)";
  }
  if (prefix[0] == '\x0A' &&
      (contains(prefix.substr(0, 256), "/host:") || contains(prefix.substr(0, 256), "/device:"))) {
    return "an XPlane protobuf (JAX, TensorFlow) that is damaged where it begins";
  }
  return "binary data";
}

std::string describe_text(std::string_view prefix) {
  while (!prefix.empty() && is_blank(prefix.front())) {
    prefix.remove_prefix(1);
  }
  const std::string_view line = prefix.substr(0, prefix.find('\n'));
  if (line.starts_with("OperatorID,OperatorName,")) {
    return "a table of operators of TrioSim (the model of a scenario; or use the Kineto trace that "
           "it was made from)";
  }
  if (line.starts_with("Index,TensorID,")) {
    return "a table of tensors of TrioSim (use the Kineto trace that it was made from)";
  }
  if (std::count(line.begin(), line.end(), ',') >= 2) return "a table with commas (csv)";
  return fmt::format("text that starts with '{}'", shortened(line, 40));
}

}  // namespace

JsonOutline outline_of(std::string_view prefix) {
  if (prefix.starts_with("\xEF\xBB\xBF")) {
    prefix.remove_prefix(3);
  }
  const OutlineWalk walk(prefix);
  JsonOutline outline;
  const std::size_t start = walk.blanks(0);
  if (start >= prefix.size()) return outline;
  std::size_t end = prefix.size();
  if (prefix[start] == '{') {
    outline.is_object = true;
    outline.keys = walk.keys(start, end);
    const std::size_t first = walk.blanks(start + 1);
    outline.behind_brace = first < prefix.size() ? prefix[first] : '\0';
    outline.complete = end < prefix.size() || (end > start + 1 && prefix[end - 1] == '}');
    outline.behind = prefix.substr(std::min(prefix.size(), walk.blanks(end)));
  } else if (prefix[start] == '[') {
    outline.is_array = true;
    const std::size_t first = walk.blanks(start + 1);
    if (first < prefix.size() && prefix[first] != ']') {
      outline.first_element = prefix.substr(first, walk.behind(first) - first);
      if (prefix[first] == '{') {
        outline.keys = walk.keys(first, end);
      }
    } else {
      outline.complete = first < prefix.size();
    }
  }
  return outline;
}

bool has_key(const JsonOutline& outline, std::string_view key) {
  return std::find(outline.keys.begin(), outline.keys.end(), key) != outline.keys.end();
}

std::string describe_format(std::string_view prefix) {
  if (prefix.empty()) return "is empty";
  for (const Magic& magic : magics) {
    if (prefix.starts_with(magic.bytes)) {
      return fmt::format("looks like {}{}", magic.meaning,
                         is_packed(prefix) && !reads_archives()
                             ? "; this build has no libarchive to unpack it"
                             : "");
    }
  }
  if (is_archive(prefix)) return "looks like a tar archive: unpack it and use one file";
  if (!is_text(prefix)) return fmt::format("looks like {}", describe_binary(prefix));
  const JsonOutline outline = outline_of(prefix);
  if (outline.is_object || outline.is_array) {
    const std::string what = outline.is_object ? describe_object(outline) : describe_array(outline);
    return what.empty() ? std::string() : fmt::format("looks like {}", what);
  }
  const bool blank = std::all_of(prefix.begin(), prefix.end(), is_blank);
  return blank ? "is blank" : fmt::format("looks like {}", describe_text(prefix));
}

}  // namespace foretrace::trace::formats
