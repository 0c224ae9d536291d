#include "trace/collect/names.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include <cxxabi.h>
#include <fmt/format.h>

namespace foretrace::trace::collector {
namespace {

using namespace std::string_view_literals;

constexpr std::array place_names = {"Unknown"sv,       "Pageable"sv,      "Pinned"sv,
                                    "Device"sv,        "Array"sv,         "Managed"sv,
                                    "Device Static"sv, "Managed Static"sv};
constexpr std::array copy_names = {"Unknown"sv, "HtoD"sv, "DtoH"sv, "HtoA"sv, "AtoH"sv, "AtoA"sv,
                                   "AtoD"sv,    "DtoA"sv, "DtoD"sv, "HtoH"sv, "PtoP"sv};
constexpr std::array kind_names = {
    "calls"sv,   "kernels"sv,      "copies"sv,   "sets"sv,     "synchronizations"sv,
    "events"sv,  "graphs"sv,       "streams"sv,  "contexts"sv, "memory"sv,
    "ranges"sv,  "external ids"sv, "overhead"sv, "devices"sv,  "clocks"sv,
    "threads"sv, "drops"sv};
static_assert(kind_names.size() == record_kinds);

template <std::size_t size>
std::string_view at(const std::array<std::string_view, size>& names, std::size_t position) {
  return position < size ? names[position] : "Unknown"sv;
}

std::string_view place_name(MemoryPlace place) {
  return at(place_names, static_cast<std::size_t>(place));
}

bool ends_with_version(std::string_view name, std::size_t& mark) {
  mark = name.rfind("_v");
  return mark != std::string_view::npos && mark + 2 < name.size() &&
         std::all_of(name.begin() + static_cast<std::ptrdiff_t>(mark) + 2, name.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

std::string_view call_name(std::string_view name) {
  std::size_t mark = 0;
  // Version 2 and so on of a driver call ("cuMemcpyHtoD_v2") belong to its name nowhere else.
  if (ends_with_version(name, mark)) {
    name = name.substr(0, mark);
  }
  for (const std::string_view suffix : {"_ptsz"sv, "_ptds"sv}) {
    if (name.ends_with(suffix)) {
      name.remove_suffix(suffix.size());
    }
  }
  return name;
}

std::string copy_name(const CopyRecord& copy) {
  return fmt::format("Memcpy {} ({} -> {})", at(copy_names, static_cast<std::size_t>(copy.kind)),
                     place_name(copy.from), place_name(copy.to));
}

std::string set_name(const SetRecord& set) {
  return fmt::format("Memset ({})", place_name(set.place));
}

std::string_view kind_name(RecordKind kind) {
  return at(kind_names, static_cast<std::size_t>(kind));
}

}  // namespace foretrace::trace::collector
