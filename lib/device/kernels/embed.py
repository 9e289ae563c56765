#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py IMAGE SOURCE: writes SOURCE, which defines chorus::kernel_image() with the bytes of the file IMAGE."""
import pathlib
import sys

image, source = map(pathlib.Path, sys.argv[1:])
content = image.read_bytes()
content += bytes(-len(content) % 8)
words = [int.from_bytes(content[at:at + 8], "little") for at in range(0, len(content), 8)]
lines = (", ".join(f"{word:#x}" for word in words[at:at + 8]) for at in range(0, len(words), 8))
source.write_text(f"""// SPDX-License-Identifier: Apache-2.0
#include "device/kernels/image.hpp"

#include <cstdint>

namespace chorus {{
namespace {{

alignas(64) constexpr std::uint64_t words[] = {{
{",".join(line + chr(10) for line in lines)}}};

}}  // namespace

std::span<const std::byte> kernel_image() noexcept {{ return std::as_bytes(std::span(words)); }}

}}  // namespace chorus
""", encoding="utf-8")
