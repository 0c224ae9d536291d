#include "trace/formats/kineto/kineto_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/core/hidden_text.h"
#include "trace/formats/json/json_check.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 16;

bool is_plain_integer(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  return !digits.empty() && digits.size() <= 18 &&
         digits.find_first_not_of("0123456789") == std::string_view::npos &&
         (digits.size() == 1 || digits.front() != '0');
}

// An id as it was recorded: a number, or a text. Readers keep texts of JSON with their escapes.
void add_id(std::string& out, std::string_view key, std::string_view text) {
  if (text.empty()) return;
  out += out.empty() ? "" : ", ";
  const std::string quoted = fmt::format("\"{}\"", text);
  out += fmt::format("\"{}\": {}", key,
                     is_plain_integer(text)  ? std::string(text)
                     : is_valid_json(quoted) ? quoted
                                             : fmt::format("\"{}\"", json_escaped(text)));
}

std::string three(const std::array<std::int32_t, 3>& values) {
  return fmt::format("[{}, {}, {}]", values[0], values[1], values[2]);
}

bool says_something(const std::array<std::int32_t, 3>& values) {
  return values[0] != 0 || values[1] != 0 || values[2] != 0;
}

}  // namespace

TextBuffer& TextBuffer::operator<<(std::int64_t number) {
  text_ += fmt::format_int(number).c_str();
  return *this;
}

TextBuffer& TextBuffer::microseconds(std::int64_t ns) {
  const std::uint64_t size =
      ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  if (ns < 0) {
    text_ += '-';
  }
  const fmt::format_int whole(size / 1000);
  text_.append(whole.data(), whole.size());
  const std::uint64_t rest = size % 1000;
  const char digits[] = {'.', static_cast<char>('0' + rest / 100),
                         static_cast<char>('0' + rest / 10 % 10),
                         static_cast<char>('0' + rest % 10)};
  text_.append(digits, sizeof digits);
  return *this;
}

TextBuffer& TextBuffer::quoted(std::string_view text) {
  const bool plain = text.find_first_of("\"\\") == std::string_view::npos &&
                     std::none_of(text.begin(), text.end(),
                                  [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  text_ += '"';
  if (plain) {
    text_ += text;
  } else {
    text_ += json_escaped(text);
  }
  text_ += '"';
  return *this;
}

bool TextBuffer::flush(bool all) {
  if (usable_ && (text_.size() >= piece_bytes || (all && !text_.empty()))) {
    usable_ = sink_(with_hidden_escaped(text_));  // pieces end with whole names
    text_.clear();
  }
  return usable_;
}

const std::string& DescriptorTexts::of(DescriptorId id) {
  const std::size_t at = index(id);
  if (!made_[at]) {
    texts_[at] = make(table_.descriptors[at]);
    made_[at] = true;
  }
  return texts_[at];
}

std::string DescriptorTexts::make(const Descriptor& descriptor) {
  std::string out;
  const auto add = [&out](std::string_view key, const std::string& value) {
    out += fmt::format("{}\"{}\": {}", out.empty() ? "" : ", ", key, value);
  };
  const auto add_json = [&](std::string_view key, NameId name) {
    if (const std::string_view json = table_.names[name]; !json.empty()) {
      const bool valid = is_valid_json(json);
      left_out_ += valid ? 0 : 1;
      if (valid) {
        add(key, std::string(json));
      }
    }
  };
  add_json("Input Dims", descriptor.dims);
  add_json("Input type", descriptor.types);
  add_json("Concrete Inputs", descriptor.concrete);
  if (descriptor.bytes != -1) {
    add("bytes", fmt::format("{}", descriptor.bytes));
  }
  if (says_something(descriptor.grid)) {
    add("grid", three(descriptor.grid));
  }
  if (says_something(descriptor.block)) {
    add("block", three(descriptor.block));
  }
  if (descriptor.registers_per_thread != 0) {
    add("registers per thread", fmt::format("{}", descriptor.registers_per_thread));
  }
  if (descriptor.shared_memory_bytes != 0) {
    add("shared memory", fmt::format("{}", descriptor.shared_memory_bytes));
  }
  if (descriptor.flops != -1.0 && std::isfinite(descriptor.flops)) {
    add("flops", fmt::format("{}", descriptor.flops));
  }
  const std::string_view text = table_.names[descriptor.text];
  if (text.size() > 2 && text.front() == '{' && is_valid_json(text)) {
    out += out.empty() ? "" : ", ";
    out += text.substr(1, text.size() - 2);
  } else if (text.size() > 2) {
    ++left_out_;
  }
  return out;
}

std::vector<std::string> track_texts(const EventTable& table) {
  std::vector<std::string> texts;
  for (const Track& track : table.tracks) {
    std::string text;
    const std::string_view process = table.names[track.process_text];
    const std::string_view number = table.names[track.number_text];
    const std::int64_t first = track.kind == Track::Kind::stream ? track.device : track.process;
    add_id(text, "pid", process.empty() ? fmt::format("{}", first) : process);
    add_id(text, "tid", number.empty() ? fmt::format("{}", track.number) : number);
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace foretrace::trace::formats
