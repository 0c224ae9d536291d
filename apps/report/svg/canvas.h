// A picture in SVG: shapes with a class each, colours in one style sheet for light and dark.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace foretrace::svg {

struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

/// Coordinates in pixels from the top left corner. Texts are escaped, control characters and
/// invalid UTF-8 replaced; the same calls give the same bytes.
class Canvas {
 public:
  /// A class of shapes is a name of the style sheet, such as "forward" or "axis label".
  void rect(const Box& box, std::string_view kind, std::string_view tooltip = {});
  void line(double x1, double y1, double x2, double y2, std::string_view kind);
  void circle(double x, double y, double radius, std::string_view kind);
  /// Through all points; closed and filled if its class fills.
  void path(const std::vector<std::pair<double, double>>& points, bool closed,
            std::string_view kind);
  void text(double x, double y, std::string_view text, std::string_view kind);
  /// A text and, right behind it, a softer one.
  void heading(double x, double y, std::string_view text, std::string_view kind,
               std::string_view note);
  /// What another canvas holds, on top.
  void append(const Canvas& other) { body_ += other.body_; }

  /// The document. `title` and `description` are what a screen reader says.
  [[nodiscard]] std::string finish(double width, double height, std::string_view title,
                                   std::string_view description) const;

 private:
  std::string body_;
};

/// How wide a text is at most, in pixels, for the font size of labels.
[[nodiscard]] double text_width(std::string_view text);
/// At most `width` pixels of a text, cut with an ellipsis.
[[nodiscard]] std::string fitted(std::string_view text, double width);

}  // namespace foretrace::svg
