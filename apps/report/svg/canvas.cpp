#include "apps/report/svg/canvas.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "sim/core/hidden_text.h"
#include "sim/core/utf8.h"
#include "sim/core/whole.h"

namespace foretrace::svg {
namespace {

struct Colour {
  std::string_view name;
  std::string_view light;
  std::string_view dark;
};

// One meaning, one colour. The hues keep their distance under the common colour blindnesses; dark
// backgrounds get lighter ones.
// clang-format off
constexpr std::array<Colour, 27> colours = {{
    {"$ink;", "#1d2530", "#e8ecf1"},
    {"$soft;", "#5b6674", "#9aa7b5"},
    {"$line;", "#dfe4ea", "#2f3843"},
    {"$back;", "#fff", "#14181d"},
    {"$wash;", "#f3f5f8", "#1b2027"},
    {"$mark;", "#c2302a", "#ff6b61"},
    {"$forward;", "#3a6fb7", "#5b93e0"},
    {"$backward;", "#e0832f", "#f0a052"},
    {"$update;", "#329c6c", "#41c59b"},
    {"$loading;", "#a3479b", "#d07fc9"},
    {"$communication;", "#c9a227", "#e3c65a"},
    {"$movement;", "#76bef1", "#bfdde6"},
    {"$other;", "#9097a1", "#717982"},
    {"$host;", "#b3bfcc", "#52627a"},
    {"$call;", "#5f7288", "#8ba0b9"},
    {"$wait;", "#e6eaef", "#2b323c"},
    {"$c0;", "#9097a1", "#717982"},
    {"$c1;", "#3a6fb7", "#5b93e0"},
    {"$c2;", "#e0832f", "#f0a052"},
    {"$c3;", "#5e0c5b", "#b45fb1"},
    {"$c4;", "#329c6c", "#41c59b"},
    {"$c5;", "#e8b93f", "#f0c651"},
    {"$c6;", "#c9a227", "#e3c65a"},
    {"$c7;", "#76bef1", "#bfdde6"},
    {"$c8;", "#a3479b", "#d07fc9"},
    {"$c9;", "#717982", "#8a95a1"},
    {"$c10;", "#d98c8c", "#e8a5a5"},
}};
// clang-format on

constexpr std::string_view shapes =
    R"css(text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}
.title{font-size:17px;font-weight:600}.strong{font-weight:600}.end,.axis.end{text-anchor:end}.middle,.saved{text-anchor:middle}
.saved{font-weight:600}.on{font-size:12px}.grid,.rule,.dash{stroke-width:1}.measured{stroke-width:2}.dash{stroke-dasharray:4 3}.step,.curve{fill:none}
.area{fill-opacity:.16}.curve{stroke-width:1.5}.hatch{fill:url(#hatch)}.s1{fill-opacity:.3}.s2{fill-opacity:.55}.s3{fill-opacity:.8}
)css";

// Written out for each palette: many viewers of SVG know no variables of CSS.
constexpr std::string_view fills =
    R"css(text{fill:$ink;}.label,.axis,.end,.middle{fill:$soft;}.saved{fill:$forward;}.on{fill:#fff}
.back{fill:$back;}.wash{fill:$wash;}.grid,.step{stroke:$line;}.rule,.dash{stroke:$soft;}.measured{stroke:$mark;}.area{fill:$forward;}.curve{stroke:$forward;}.peak{fill:$mark;}
.forward{fill:$forward;}.backward{fill:$backward;}.update{fill:$update;}.loading{fill:$loading;}.communication{fill:$communication;}
.movement{fill:$movement;}.other{fill:$other;}.host{fill:$host;}.call{fill:$call;}.wait{fill:$wait;}
.c0{fill:$c0;}.c1{fill:$c1;}.c2{fill:$c2;}.c3{fill:$c3;}.c4{fill:$c4;}.c5{fill:$c5;}.c6{fill:$c6;}.c7{fill:$c7;}.c8{fill:$c8;}.c9{fill:$c9;}.c10{fill:$c10;}
)css";

constexpr std::string_view hatch =
    R"svg(<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line x1="0" y1="0" x2="0" y2="6" class="grid"/></pattern></defs>
)svg";

std::string fills_in(std::string_view Colour::*palette) {
  std::string css(fills);
  for (const Colour& colour : colours) {
    for (std::size_t at = css.find(colour.name); at != std::string::npos;
         at = css.find(colour.name, at)) {
      css.replace(at, colour.name.size(), colour.*palette);
    }
  }
  return css;
}

std::string style() {
  return fmt::format("<style>\n{}{}@media (prefers-color-scheme:dark){{\n{}}}\n</style>{}", shapes,
                     fills_in(&Colour::light), fills_in(&Colour::dark), hatch);
}

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = first_code_point(text).bytes;
    const char c = text.front();
    if (length == 1) {
      switch (c) {
        case '&': result += "&amp;"; break;
        case '<': result += "&lt;"; break;
        case '>': result += "&gt;"; break;
        case '"': result += "&quot;"; break;
        default: result += static_cast<std::uint8_t>(c) < 0x20U || c == 0x7F ? '?' : c;
      }
    } else if (length == 0 || hidden_length(text) > 0) {
      result += '?';
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return result;
}

// Tenths of a pixel are enough, and the same on every machine.
std::string coordinate(double value) {
  const auto tenths = to_whole(value * 10);
  return tenths % 10 == 0 ? fmt::format("{}", tenths / 10)
                          : fmt::format("{}{}.{}", tenths < 0 ? "-" : "", std::abs(tenths) / 10,
                                        std::abs(tenths) % 10);
}

constexpr double character_width = 7.2;  // of the widest usual font at 13 pixels, on average

}  // namespace

void Canvas::rect(const Box& box, std::string_view kind, std::string_view tooltip) {
  body_ +=
      fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" class="{}")", coordinate(box.x),
                  coordinate(box.y), coordinate(box.width), coordinate(box.height), kind);
  body_ += tooltip.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", escaped(tooltip));
}

void Canvas::line(double x1, double y1, double x2, double y2, std::string_view kind) {
  body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n",
                       coordinate(x1), coordinate(y1), coordinate(x2), coordinate(y2), kind);
}

void Canvas::circle(double x, double y, double radius, std::string_view kind) {
  body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{}\"/>\n", coordinate(x),
                       coordinate(y), coordinate(radius), kind);
}

void Canvas::path(const std::vector<std::pair<double, double>>& points, bool closed,
                  std::string_view kind) {
  if (points.empty()) {
    return;
  }
  body_ += "<path d=\"";
  char command = 'M';
  for (const auto& [x, y] : points) {
    body_ += fmt::format("{}{} {}", command, coordinate(x), coordinate(y));
    command = 'L';
  }
  body_ += fmt::format("{}\" class=\"{}\"/>\n", closed ? "Z" : "", kind);
}

void Canvas::text(double x, double y, std::string_view text, std::string_view kind) {
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\">{}</text>\n", coordinate(x),
                       coordinate(y), kind, escaped(text));
}

void Canvas::heading(double x, double y, std::string_view text, std::string_view kind,
                     std::string_view note) {
  body_ += fmt::format("<text x=\"{}\" y=\"{}\"><tspan class=\"{}\">{}</tspan>", coordinate(x),
                       coordinate(y), kind, escaped(text));
  if (!note.empty()) {
    body_ += fmt::format("<tspan dx=\"8\" class=\"label\">{}</tspan>", escaped(note));
  }
  body_ += "</text>\n";
}

std::string Canvas::finish(double width, double height, std::string_view title,
                           std::string_view description) const {
  return fmt::format(
             R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img">)",
             coordinate(width), coordinate(height)) +
         fmt::format("\n<title>{}</title><desc>{}</desc>\n", escaped(title), escaped(description)) +
         style() + "<rect width=\"100%\" height=\"100%\" class=\"back\"/>\n" + body_ + "</svg>\n";
}

double text_width(std::string_view text) {
  return character_width * static_cast<double>(utf8_characters(text));
}

std::string fitted(std::string_view text, double width) {
  const auto room = static_cast<std::size_t>(std::max(1.0, width / character_width));
  if (utf8_characters(text) <= room) {
    return std::string(text);
  }
  std::size_t kept = 0;
  std::size_t end = 0;
  while (end < text.size() && kept + 1 < room) {
    end += std::max<std::size_t>(1, first_code_point(text.substr(end)).bytes);
    ++kept;
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace foretrace::svg
