// The JSON texts of "Input Dims" and "Input type" to shapes and names of types.
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>

#include "models/hardware/costs/operator_shapes.h"

namespace foretrace {
namespace {

constexpr std::size_t most_dims = 16;

// Reads [[32, 64], [[4, 2], [8]], []]: what is not a number, a list or a comma ends the reading. A
// parser of its own, because nested tensors make texts of 100 kB and every work of a graph has one.
class DimsReader {
 public:
  explicit DimsReader(std::string_view text) : text_(text) {}

  // Nothing if the text is not a list of lists of lists of sizes.
  std::optional<std::vector<std::vector<Dims>>> read() {
    std::vector<std::vector<Dims>> inputs;
    constexpr std::size_t usual = 8;
    inputs.reserve(usual);
    if (!accept('[')) return std::nullopt;
    if (accept(']')) return at_end() ? std::optional(inputs) : std::nullopt;
    do {
      std::vector<Dims>& shapes = inputs.emplace_back();
      if (!input(shapes)) return std::nullopt;
    } while (accept(','));
    if (!accept(']') || !at_end()) return std::nullopt;
    return inputs;
  }

 private:
  void skip_blanks() {
    while (!text_.empty() &&
           (text_.front() == ' ' || text_.front() == '\n' || text_.front() == '\t')) {
      text_.remove_prefix(1);
    }
  }
  bool accept(char wanted) {
    skip_blanks();
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool at_end() {
    skip_blanks();
    return text_.empty();
  }

  // One input: a shape, a list of shapes, or [] for what is not a tensor.
  bool input(std::vector<Dims>& shapes) {
    if (!accept('[')) return scalar();
    if (accept(']')) return true;
    skip_blanks();
    if (text_.empty() || text_.front() != '[') {
      Dims dims;
      if (!numbers(dims)) return false;
      shapes.push_back(std::move(dims));
      return true;
    }
    do {
      Dims dims;
      if (!accept('[')) return false;
      if (accept(']')) continue;
      if (!numbers(dims)) return false;
      shapes.push_back(std::move(dims));
    } while (accept(','));
    return accept(']');
  }

  // Some versions write "" or a number where there is no tensor.
  bool scalar() {
    if (accept('"')) return accept('"');
    std::int64_t ignored = 0;
    return number(ignored);
  }

  // Up to and with the closing bracket.
  bool numbers(Dims& dims) {
    std::array<std::int64_t, most_dims> sizes{};
    std::size_t count = 0;
    do {
      std::int64_t size = 0;
      if (!number(size) || size < 0 || count == most_dims) return false;
      sizes[count++] = size;
    } while (accept(','));
    dims.assign(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(count));
    return accept(']');
  }

  bool number(std::int64_t& value) {
    skip_blanks();
    const auto [rest, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<std::size_t>(rest - text_.data()));
    return true;
  }

  std::string_view text_;
};

}  // namespace

OperatorInputs parse_inputs(std::string_view dims_json) {
  if (dims_json.empty()) return {};
  auto tensors = DimsReader(dims_json).read();
  return tensors ? OperatorInputs{std::move(*tensors)} : OperatorInputs{};
}

std::vector<std::string_view> input_types(std::string_view json) {
  std::vector<std::string_view> types;
  for (std::size_t at = json.find('"'); at != std::string_view::npos;) {
    const std::size_t end = json.find('"', at + 1);
    if (end == std::string_view::npos) break;
    types.push_back(json.substr(at + 1, end - at - 1));
    at = json.find('"', end + 1);
  }
  return types;
}

}  // namespace foretrace
