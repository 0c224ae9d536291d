#include "apps/report/svg/canvas.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

namespace foretrace::svg {
namespace {

// One meaning, one colour. The hues keep their distance under the common colour blindnesses; dark
// backgrounds get lighter ones.
constexpr std::string_view style = R"svg(<style>
:root{--ink:#1d2530;--soft:#5b6674;--line:#dfe4ea;--back:#fff;--wash:#f3f5f8;--mark:#c2302a;
--forward:#3a6fb7;--backward:#e0832f;--update:#329c6c;--loading:#a3479b;--communication:#c9a227;--movement:#76bef1;--other:#9097a1;
--host:#b3bfcc;--call:#5f7288;--wait:#e6eaef;
--c0:#9097a1;--c1:#3a6fb7;--c2:#e0832f;--c3:#5e0c5b;--c4:#329c6c;--c5:#e8b93f;--c6:#c9a227;--c7:#76bef1;--c8:#a3479b;--c9:#717982;--c10:#d98c8c}
@media (prefers-color-scheme:dark){:root{--ink:#e8ecf1;--soft:#9aa7b5;--line:#2f3843;--back:#14181d;--wash:#1b2027;--mark:#ff6b61;
--forward:#5b93e0;--backward:#f0a052;--update:#41c59b;--loading:#d07fc9;--communication:#e3c65a;--movement:#bfdde6;--other:#717982;
--host:#52627a;--call:#8ba0b9;--wait:#2b323c;
--c0:#717982;--c1:#5b93e0;--c2:#f0a052;--c3:#b45fb1;--c4:#41c59b;--c5:#f0c651;--c6:#e3c65a;--c7:#bfdde6;--c8:#d07fc9;--c9:#8a95a1;--c10:#e8a5a5}}
text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:var(--ink)}
.title{font-size:17px;font-weight:600}.strong{font-weight:600}.label,.axis,.end{fill:var(--soft)}.end,.axis.end{text-anchor:end}.middle{text-anchor:middle;fill:var(--soft)}
.saved{text-anchor:middle;fill:var(--forward);font-weight:600}.on{fill:#fff;font-size:12px}
.back{fill:var(--back)}.wash{fill:var(--wash)}.grid{stroke:var(--line);stroke-width:1}.rule{stroke:var(--soft);stroke-width:1}.dash{stroke:var(--soft);stroke-width:1;stroke-dasharray:4 3}
.step{fill:none;stroke:var(--line)}.area{fill:var(--forward);fill-opacity:.16}.curve{fill:none;stroke:var(--forward);stroke-width:1.5}.peak{fill:var(--mark)}
.hatch{fill:url(#hatch)}
.forward{fill:var(--forward)}.backward{fill:var(--backward)}.update{fill:var(--update)}.loading{fill:var(--loading)}.communication{fill:var(--communication)}
.movement{fill:var(--movement)}.other{fill:var(--other)}.host{fill:var(--host)}.call{fill:var(--call)}.wait{fill:var(--wait)}
.c0{fill:var(--c0)}.c1{fill:var(--c1)}.c2{fill:var(--c2)}.c3{fill:var(--c3)}.c4{fill:var(--c4)}.c5{fill:var(--c5)}.c6{fill:var(--c6)}.c7{fill:var(--c7)}.c8{fill:var(--c8)}.c9{fill:var(--c9)}.c10{fill:var(--c10)}
.s1{fill-opacity:.3}.s2{fill-opacity:.55}.s3{fill-opacity:.8}
</style><defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line x1="0" y1="0" x2="0" y2="6" class="grid"/></pattern></defs>
)svg";

// The length of the UTF-8 sequence at the front of a text; 0 if it is not valid.
std::size_t sequence_length(std::string_view text) {
  const auto lead = static_cast<std::uint8_t>(text.front());
  const std::size_t length = lead < 0x80U                    ? 1
                             : lead >= 0xC2U && lead < 0xE0U ? 2
                             : lead >= 0xE0U && lead < 0xF0U ? 3
                             : lead >= 0xF0U && lead < 0xF5U ? 4
                                                             : 0;
  if (length == 0 || text.size() < length) {
    return 0;
  }
  const bool continued =
      std::all_of(text.begin() + 1, text.begin() + static_cast<long>(length),
                  [](char c) { return (static_cast<std::uint8_t>(c) & 0xC0U) == 0x80U; });
  return continued ? length : 0;
}

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const char c = text.front();
    if (length == 1) {
      switch (c) {
        case '&': result += "&amp;"; break;
        case '<': result += "&lt;"; break;
        case '>': result += "&gt;"; break;
        case '"': result += "&quot;"; break;
        default: result += static_cast<std::uint8_t>(c) < 0x20U || c == 0x7F ? '?' : c;
      }
    } else if (length == 0) {
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
  const auto tenths = std::llround(value * 10);
  return tenths % 10 == 0 ? fmt::format("{}", tenths / 10)
                          : fmt::format("{}{}.{}", tenths < 0 ? "-" : "", std::abs(tenths) / 10,
                                        std::abs(tenths) % 10);
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<std::uint8_t>(c) & 0xC0U) != 0x80U;
  }));
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
         std::string(style) + "<rect width=\"100%\" height=\"100%\" class=\"back\"/>\n" + body_ +
         "</svg>\n";
}

double text_width(std::string_view text) {
  return character_width * static_cast<double>(characters(text));
}

std::string fitted(std::string_view text, double width) {
  const auto room = static_cast<std::size_t>(std::max(1.0, width / character_width));
  if (characters(text) <= room) {
    return std::string(text);
  }
  std::size_t kept = 0;
  std::size_t end = 0;
  while (end < text.size() && kept + 1 < room) {
    end += std::max<std::size_t>(1, sequence_length(text.substr(end)));
    ++kept;
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace foretrace::svg
