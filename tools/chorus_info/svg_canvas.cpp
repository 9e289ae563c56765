// SPDX-License-Identifier: Apache-2.0
#include "svg_canvas.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace chorus::info {
namespace {

/// Text as XML allows it: a host or device may be called anything.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += static_cast<unsigned char>(letter) < ' ' && letter != '\n' ? ' ' : letter;
    }
  }
  return result;
}

}  // namespace

double text_width(std::string_view text, double size, bool bold) {
  constexpr std::string_view narrow = " .,:;'|!()[]ijlftr1-", wide = "mwMWGOQ@%+_";
  double letters = 0;
  for (const char letter : text) {
    const bool is_wide = wide.find(letter) != std::string_view::npos;
    letters += is_wide ? 0.9 : narrow.find(letter) != std::string_view::npos ? 0.42 : 0.64;
  }
  return letters * size * (bold ? 1.1 : 1);
}

void SvgCanvas::rect(const Area& area, const RectStyle& style) {
  fmt::format_to(std::back_inserter(elements_),
                 "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{}\" fill=\"{}\" "
                 "stroke=\"{}\" stroke-width=\"{}\"/>\n",
                 area.x, area.y, area.width, area.height, style.radius, style.fill, style.stroke, style.stroke_width);
}

void SvgCanvas::text(double x, double baseline, std::string_view text, const TextStyle& style,
                     std::string_view details) {
  fmt::format_to(std::back_inserter(elements_), "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" fill=\"{}\"{}{}>{}",
                 x, baseline, style.size, style.fill, style.bold ? " font-weight=\"bold\"" : "",
                 style.centred ? " text-anchor=\"middle\"" : "", escaped(text));
  if (!details.empty()) {
    fmt::format_to(std::back_inserter(elements_),
                   "<tspan dx=\"7\" font-size=\"{}\" fill=\"{}\" font-weight=\"normal\">{}</tspan>", style.size - 1,
                   grey, escaped(details));
  }
  elements_ += "</text>\n";
}

void SvgCanvas::begin_group(std::string_view tooltip) {
  fmt::format_to(std::back_inserter(elements_), "<g><title>{}</title>\n", escaped(tooltip));
}

void SvgCanvas::end_group() { elements_ += "</g>\n"; }

std::string SvgCanvas::file(double width, double height, std::string_view title) const {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif\">\n"
      "<title>{2}</title>\n"
      "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
      "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#eceff3\"/>"
      "<rect width=\"2\" height=\"6\" fill=\"#c3cad4\"/></pattern></defs>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{3}</svg>\n",
      std::ceil(width), std::ceil(height), escaped(title), elements_);
}

}  // namespace chorus::info
