// An answer that breaks a law that every answer keeps: an error of ours, so that none of its
// figures are shown.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace foretrace {

/// One line that names the law and what breaks it.
class BrokenLaw : public std::logic_error {
 public:
  BrokenLaw(std::string_view law, std::string_view by)
      : std::logic_error("this answer breaks a law and is not shown: " + std::string(law) + ": " +
                         std::string(by)) {}
};

}  // namespace foretrace
