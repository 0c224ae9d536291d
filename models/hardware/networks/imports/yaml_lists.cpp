#include "models/hardware/networks/imports/yaml_lists.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#ifdef FORETRACE_HAS_YAML
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/yaml.h>
#endif

#include "sim/core/utf8.h"

namespace foretrace::cluster_imports {

#ifdef FORETRACE_HAS_YAML
namespace {

/// A list of hundreds of dimensions has some kilobytes; a node of yaml-cpp takes a hundred times
/// its text.
constexpr std::size_t longest_yaml = std::size_t{1} << 18U;

Error yaml_mistake(const std::string& path, int line, const std::string& what) {
  return Error{ErrorCode::bad_config,
               fmt::format("{}:{}: {}", path, std::max(line, 0) + 1, on_one_line(what))};
}

// Aliases are shared, not copied, and none is followed below a list: they cannot multiply.
Result<std::vector<YamlList>> lists_of(const YAML::Node& root, const std::string& path) {
  if (!root.IsMap()) {
    return yaml_mistake(path, root.Mark().line, "is no mapping, expected lines such as key: [ 1 ]");
  }
  std::vector<YamlList> lists;
  for (const auto& member : root) {
    const int line = member.first.Mark().line;
    if (!member.first.IsScalar()) return yaml_mistake(path, line, "the key is no word");
    YamlList list{static_cast<std::size_t>(line) + 1, member.first.Scalar(), {}};
    if (member.second.IsSequence()) {
      for (const auto& value : member.second) {
        list.values.push_back(value.IsScalar() ? value.Scalar() : std::string());
      }
    }
    lists.push_back(std::move(list));
  }
  return lists;
}

}  // namespace

Result<std::vector<YamlList>> yaml_lists(const std::string& text, const std::string& path) {
  if (text.size() > longest_yaml) {
    return Error{ErrorCode::bad_config, fmt::format("{}: {} bytes of YAML, expected at most {}",
                                                    path, text.size(), longest_yaml)};
  }
  try {
    return lists_of(YAML::Load(text), path);
  } catch (const YAML::DeepRecursion& error) {
    return yaml_mistake(path, error.mark.line, "is nested hundreds of times");
  } catch (const YAML::Exception& error) {
    return yaml_mistake(path, error.mark.line, "is no YAML: " + error.msg);
  }
}
#else
Result<std::vector<YamlList>> yaml_lists(const std::string& /*text*/, const std::string& path) {
  return Error{ErrorCode::unsupported,
               path + ": is YAML, which this build cannot read (it has no yaml-cpp)"};
}
#endif

}  // namespace foretrace::cluster_imports
