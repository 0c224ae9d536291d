#include "trace/formats/memory/pickle.h"

#include <bit>
#include <optional>

#include <fmt/format.h>

namespace foretrace::trace::formats {
namespace {

// Opcodes of pickle protocols 0 to 5 that make plain values (CPython, Lib/pickletools.py).
enum Opcode : unsigned char {
  op_mark = '(',
  op_stop = '.',
  op_pop = '0',
  op_pop_mark = '1',
  op_dup = '2',
  op_real = 'G',
  op_int32 = 'J',
  op_uint8 = 'K',
  op_uint16 = 'M',
  op_none = 'N',
  op_text32 = 'X',
  op_append = 'a',
  op_bytes32 = 'B',
  op_bytes8 = 'C',
  op_dictionary = 'd',
  op_appends = 'e',
  op_get8 = 'h',
  op_get32 = 'j',
  op_list = 'l',
  op_put8 = 'q',
  op_put32 = 'r',
  op_set = 's',
  op_tuple = 't',
  op_sets = 'u',
  op_empty_list = ']',
  op_empty_tuple = ')',
  op_empty_dictionary = '}',
  op_protocol = 0x80,
  op_tuple1 = 0x85,
  op_tuple2 = 0x86,
  op_tuple3 = 0x87,
  op_true = 0x88,
  op_false = 0x89,
  op_long8 = 0x8A,
  op_text8 = 0x8C,
  op_text64 = 0x8D,
  op_memoize = 0x94,
  op_frame = 0x95
};

// Instructions that would run code.
std::string_view calling(unsigned char opcode) {
  switch (opcode) {
    case 'c':
    case 0x93: return "imports a Python object";
    case 'R':
    case 'o':
    case 'i':
    case 0x81:
    case 0x92: return "calls a Python object";
    case 'b': return "sets up a Python object";
    case 'P':
    case 'Q':
    case 0x82:
    case 0x83:
    case 0x84:
    case 0x97:
    case 0x98: return "refers to something outside the file";
    default: return {};
  }
}

}  // namespace

class Pickle::Machine {
 public:
  Machine(std::string_view bytes, Pickle& out) : bytes_(bytes), out_(out) {}

  Status run() {
    while (trouble_.empty()) {
      start_ = at_;
      if (at_ >= bytes_.size()) {
        trouble_ = "ends before its last instruction";
        break;
      }
      const auto opcode = static_cast<unsigned char>(bytes_[at_++]);
      if (opcode == op_stop) {
        if (stack_.empty()) {
          trouble_ = "leaves no value";
          break;
        }
        out_.root_ = stack_.back();
        return ok_status();
      }
      step(opcode);
    }
    return Error{ErrorCode::bad_format,
                 fmt::format("the pickle {} at byte {}; only plain lists, dictionaries, numbers "
                             "and texts are read",
                             trouble_, start_)};
  }

 private:
  // ---- bytes ----
  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    if (bytes_.size() - at_ < size) {
      trouble_ = "is cut off";
      at_ = bytes_.size();
      return 0;
    }
    for (std::size_t i = 0; i < size; ++i) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[at_ + i])) << (8 * i);
    }
    at_ += size;
    return value;
  }
  std::string_view text(std::uint64_t size) {
    if (size > bytes_.size() - at_) {
      trouble_ = "is cut off";
      return {};
    }
    const std::string_view taken = bytes_.substr(at_, static_cast<std::size_t>(size));
    at_ += static_cast<std::size_t>(size);
    return taken;
  }

  // ---- values ----
  void push(PickleKind kind, std::int64_t value = 0, std::uint32_t container = 0) {
    stack_.push_back(static_cast<Index>(out_.values_.size()));
    out_.values_.push_back({kind, container, value});
  }
  void push_text(std::string_view text) {
    out_.texts_.push_back(text);
    push(PickleKind::text, 0, static_cast<std::uint32_t>(out_.texts_.size() - 1));
  }
  void push_container(PickleKind kind, std::vector<Index> items) {
    out_.items_.push_back(std::move(items));
    push(kind, 0, static_cast<std::uint32_t>(out_.items_.size() - 1));
  }
  void push_real() {
    std::uint64_t bits = 0;  // the only big-endian number of a pickle
    for (const char c : text(8)) {
      bits = bits << 8U | static_cast<unsigned char>(c);
    }
    push(PickleKind::real, std::bit_cast<std::int64_t>(bits));
  }
  void push_long() {
    const std::uint64_t size = number(1);
    if (size > 8) {
      (void)text(size);  // beyond 64 bits: no address and no size is
      push(PickleKind::nothing);
      return;
    }
    std::uint64_t value = number(static_cast<std::size_t>(size));
    if (size > 0 && size < 8 && (value >> (8 * size - 1)) != 0) {
      value |= ~std::uint64_t{0} << (8 * size);  // two's complement
    }
    push(PickleKind::integer, static_cast<std::int64_t>(value));
  }

  // ---- stack ----
  std::optional<Index> pop() {
    if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back())) {
      trouble_ = "uses a missing value";
      return std::nullopt;
    }
    const Index value = stack_.back();
    stack_.pop_back();
    return value;
  }
  std::vector<Index> pop_to_mark() {
    if (marks_.empty()) {
      trouble_ = "returns to a missing mark";
      return {};
    }
    std::vector<Index> items(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()),
                             stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return items;
  }
  void push_tuple(std::size_t size) {
    std::vector<Index> items(size);
    for (std::size_t i = size; i > 0; --i) {
      items[i - 1] = pop().value_or(0);
    }
    push_container(PickleKind::list, std::move(items));
  }
  // Adds to the container on top of the stack.
  void extend(PickleKind kind, const std::vector<Index>& items) {
    if (stack_.empty() || out_.values_[stack_.back()].kind != kind) {
      trouble_ = "adds to something that is not a container";
      return;
    }
    if (kind == PickleKind::dictionary && items.size() % 2 != 0) {
      trouble_ = "adds a key without a value";
      return;
    }
    auto& into = out_.items_[out_.values_[stack_.back()].container];
    into.insert(into.end(), items.begin(), items.end());
  }
  void append_one() {
    const auto item = pop();
    if (item) {
      extend(PickleKind::list, {*item});
    }
  }
  void set_one() {
    const auto value = pop();
    const auto key = value ? pop() : std::nullopt;
    if (key) {
      extend(PickleKind::dictionary, {*key, *value});
    }
  }

  // ---- memo ----
  void put(std::uint64_t slot) {
    // Writers count their slots: more than there are bytes is damage.
    if (stack_.empty() || slot > bytes_.size()) {
      trouble_ = "stores something that is missing";
      return;
    }
    if (slot >= memo_.size()) {
      memo_.resize(static_cast<std::size_t>(slot) + 1, absent);
    }
    memo_[static_cast<std::size_t>(slot)] = stack_.back();
  }
  void get(std::uint64_t slot) {
    if (slot >= memo_.size() || memo_[static_cast<std::size_t>(slot)] == absent) {
      trouble_ = "reads something that was not stored";
      return;
    }
    stack_.push_back(memo_[static_cast<std::size_t>(slot)]);
  }

  void step(unsigned char opcode) {
    if (!step_value(opcode) && !step_structure(opcode)) {
      const std::string_view what = calling(opcode);
      trouble_ =
          what.empty() ? fmt::format("has the unknown instruction {}", opcode) : std::string(what);
    }
  }

  bool step_value(unsigned char opcode) {
    switch (opcode) {
      case op_none: push(PickleKind::nothing); return true;
      case op_true: push(PickleKind::boolean, 1); return true;
      case op_false: push(PickleKind::boolean, 0); return true;
      case op_uint8: push(PickleKind::integer, static_cast<std::int64_t>(number(1))); return true;
      case op_uint16: push(PickleKind::integer, static_cast<std::int64_t>(number(2))); return true;
      case op_int32:
        push(PickleKind::integer, static_cast<std::int32_t>(static_cast<std::uint32_t>(number(4))));
        return true;
      case op_long8: push_long(); return true;
      case op_real: push_real(); return true;
      case op_bytes8:
      case op_text8: push_text(text(number(1))); return true;
      case op_bytes32:
      case op_text32: push_text(text(number(4))); return true;
      case op_text64: push_text(text(number(8))); return true;
      case op_empty_list:
      case op_empty_tuple: push_container(PickleKind::list, {}); return true;
      case op_empty_dictionary: push_container(PickleKind::dictionary, {}); return true;
      default: return false;
    }
  }

  bool step_structure(unsigned char opcode) {
    switch (opcode) {
      case op_protocol: (void)number(1); return true;
      case op_frame: (void)number(8); return true;
      case op_mark: marks_.push_back(stack_.size()); return true;
      case op_pop: (void)pop(); return true;
      case op_pop_mark: (void)pop_to_mark(); return true;
      case op_dup:
        if (const auto top = pop()) {
          stack_.insert(stack_.end(), {*top, *top});
        }
        return true;
      case op_list:
      case op_tuple: push_container(PickleKind::list, pop_to_mark()); return true;
      case op_dictionary:
        push_container(PickleKind::dictionary, {});
        if (const auto made = pop()) {
          const std::vector<Index> items = pop_to_mark();
          stack_.push_back(*made);
          extend(PickleKind::dictionary, items);
        }
        return true;
      case op_tuple1: push_tuple(1); return true;
      case op_tuple2: push_tuple(2); return true;
      case op_tuple3: push_tuple(3); return true;
      case op_append: append_one(); return true;
      case op_appends: extend_marked(PickleKind::list); return true;
      case op_set: set_one(); return true;
      case op_sets: extend_marked(PickleKind::dictionary); return true;
      case op_put8: put(number(1)); return true;
      case op_put32: put(number(4)); return true;
      case op_memoize: put(memo_.size()); return true;
      case op_get8: get(number(1)); return true;
      case op_get32: get(number(4)); return true;
      default: return false;
    }
  }

  void extend_marked(PickleKind kind) { extend(kind, pop_to_mark()); }

  std::string_view bytes_;
  Pickle& out_;
  std::size_t at_ = 0;
  std::size_t start_ = 0;  // of the instruction
  std::vector<Index> stack_;
  std::vector<std::size_t> marks_;
  std::vector<Index> memo_;
  std::string trouble_;
};

Result<Pickle> Pickle::read(std::string_view bytes) {
  if (bytes.size() > most_bytes) {
    return Error{ErrorCode::unsupported, fmt::format("the pickle has {} bytes, at most {} are read",
                                                     bytes.size(), most_bytes)};
  }
  Pickle pickle;
  FORETRACE_TRY(Machine(bytes, pickle).run());
  return pickle;
}

std::int64_t Pickle::integer(Index value) const {
  const Value& v = values_[value];
  if (v.kind == PickleKind::real) {
    const auto real = std::bit_cast<double>(v.number);
    return real > -9e18 && real < 9e18 ? static_cast<std::int64_t>(real) : 0;
  }
  return v.kind == PickleKind::integer || v.kind == PickleKind::boolean ? v.number : 0;
}

std::string_view Pickle::text(Index value) const {
  const Value& v = values_[value];
  return v.kind == PickleKind::text ? texts_[v.container] : std::string_view();
}

std::span<const Pickle::Index> Pickle::items(Index value) const {
  const Value& v = values_[value];
  if (v.kind != PickleKind::list && v.kind != PickleKind::dictionary) {
    return {};
  }
  return items_[v.container];
}

Pickle::Index Pickle::find(Index dictionary, std::string_view key) const {
  if (kind(dictionary) != PickleKind::dictionary) return absent;
  const std::span<const Index> pairs = items(dictionary);
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    if (text(pairs[i]) == key && kind(pairs[i]) == PickleKind::text) return pairs[i + 1];
  }
  return absent;
}

}  // namespace foretrace::trace::formats
