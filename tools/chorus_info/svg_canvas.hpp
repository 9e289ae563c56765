// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace chorus::info {

/// All lengths are in user units of SVG: pixels at 100 %.
struct Area {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

inline constexpr const char* grey = "#6b7280";

struct RectStyle {
  const char* fill = "none";
  const char* stroke = "none";
  double stroke_width = 1;
  double radius = 0;
};

struct TextStyle {
  double size = 12;
  const char* fill = "#1f2937";
  bool bold = false;
  bool centred = false;  ///< the point is the middle of the text, not its left end
};

/// Roughly how wide `text` will be: fonts differ, so rather a little more than that.
[[nodiscard]] double text_width(std::string_view text, double size, bool bold = false);

/// Writes the elements of an SVG file.
class SvgCanvas {
 public:
  void rect(const Area& area, const RectStyle& style);
  /// `baseline` is the y of the line the letters stand on. `details` follow in grey.
  void text(double x, double baseline, std::string_view text, const TextStyle& style, std::string_view details = {});
  /// What follows until `end_group` belongs together; the tooltip appears over it.
  void begin_group(std::string_view tooltip);
  void end_group();

  /// The whole file, of the given size.
  [[nodiscard]] std::string file(double width, double height, std::string_view title) const;

 private:
  std::string elements_;
};

}  // namespace chorus::info
