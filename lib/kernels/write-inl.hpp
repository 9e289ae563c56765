// SPDX-License-Identifier: Apache-2.0

// The one loop of all vectorised kernels: `write` asks a source for vectors of results and stores them. Compiled once
// for each instruction set; included after hwy/foreach_target.h.
//
// There is no scalar tail: what whole vectors leave over is written with shorter ones, down to one lane. So each
// element is computed by the same operations wherever it lies, and nothing outside the buffers is touched.
#if defined(CHORUS_KERNELS_WRITE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CHORUS_KERNELS_WRITE_INL
#undef CHORUS_KERNELS_WRITE_INL
#else
#define CHORUS_KERNELS_WRITE_INL
#endif

#include "kernels/kernels.hpp"

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <bit>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace chorus::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// How elements in memory become lanes in registers. Here they are the same; a format of halves widens to float.
template <class T>
struct Plain {
  using Element = T;
  using Lane = T;
  template <class D, class V>
  static HWY_INLINE V widen(D, V elements) {
    return elements;
  }
  template <class D, class V>
  static HWY_INLINE V narrow(D, V lanes) {
    return lanes;
  }
};

template <class Format>
inline constexpr std::size_t bytes_of = sizeof(typename Format::Element);

/// The elements in memory that belong to the lanes `D`.
template <class Format, class D>
using Elements = hn::Rebind<typename Format::Element, D>;

/// The lanes of the elements at `from`, which may have any alignment.
template <class Format, class D>
HWY_INLINE hn::Vec<D> load(D d, const std::byte* from) {
  const Elements<Format, D> elements;
  using Element = typename Format::Element;
  if constexpr (hn::MaxLanes(D()) == 1) {
    Element element;
    std::memcpy(&element, from, sizeof element);
    return Format::widen(d, hn::Set(elements, element));
  } else {
    return Format::widen(d, hn::LoadU(elements, reinterpret_cast<const Element*>(from)));
  }
}

/// Fills `lanes` with consecutive vectors from element `i` of `in` on.
template <class Format, class D, std::size_t vectors>
HWY_INLINE void load_all(D d, const std::byte* in, std::size_t i, hn::Vec<D> (&lanes)[vectors]) {
  const std::byte* const from = in + i * bytes_of<Format>;
  constexpr std::size_t vector_bytes = hn::MaxLanes(D()) * bytes_of<Format>;
  for (std::size_t v = 0; v < vectors; ++v) lanes[v] = load<Format>(d, from + v * vector_bytes);
}

/// Writes lanes as elements to `to`, which may have any alignment.
template <class Format, class D>
HWY_INLINE void store(D d, hn::Vec<D> lanes, std::byte* to) {
  const Elements<Format, D> elements;
  using Element = typename Format::Element;
  if constexpr (hn::MaxLanes(D()) == 1) {
    const Element element = hn::GetLane(Format::narrow(d, lanes));
    std::memcpy(to, &element, sizeof element);
  } else {
    hn::StoreU(Format::narrow(d, lanes), elements, reinterpret_cast<Element*>(to));
  }
}

/// Writes lanes as elements to `to`, past the caches; `to` is aligned to the vector.
template <class Format, class D>
HWY_INLINE void stream(D d, hn::Vec<D> lanes, std::byte* to) {
  hn::Stream(Format::narrow(d, lanes), Elements<Format, D>(), reinterpret_cast<typename Format::Element*>(to));
}

/// Writes the results from element `i` to `count` by vectors of `D`, then by shorter ones, at last by single lanes.
template <class Format, class D, class Source>
HWY_INLINE void write_rest(D d, std::byte* out, const Source& source, std::size_t i, std::size_t count) {
  constexpr std::size_t lanes = hn::MaxLanes(D());
  for (; i + lanes <= count; i += lanes) {
    hn::Vec<D> result[1];
    source(d, i, result);
    store<Format>(d, result[0], out + i * bytes_of<Format>);
  }
  if constexpr (lanes > 1) {
    constexpr std::size_t fewer = lanes > 4 ? lanes / 4 : 1;
    write_rest<Format>(hn::CappedTag<typename Format::Lane, fewer>(), out, source, i, count);
  }
}

/// `write` for any count. Streams from the first cache line that starts in `out`, where elements are aligned to
/// themselves and fill one.
template <class Format, class Source>
HWY_NOINLINE void write_vectors(std::byte* out, const Source& source, std::size_t count, Store how) {
  using D = hn::ScalableTag<typename Format::Lane>;
  const D d;
  constexpr std::size_t lanes = hn::MaxLanes(D());
  constexpr std::size_t at_once = 4;
  constexpr std::size_t line = 64;
  // ThreadSanitizer does not see streamed stores.
  constexpr bool can_stream = lanes * bytes_of<Format> % HWY_STREAM_MULTIPLE == 0 && !HWY_IS_TSAN;

  const std::size_t past_line = std::bit_cast<std::uintptr_t>(out) % line;
  const std::size_t head = (line - past_line) % line / bytes_of<Format>;
  const bool streams = can_stream && how == Store::streamed && past_line % bytes_of<Format> == 0 && head < count;
  std::size_t i = 0;
  if (streams) {
    write_rest<Format>(d, out, source, 0, head);
    i = head;
  }
  for (; i + at_once * lanes <= count; i += at_once * lanes) {
    hn::Vec<D> results[at_once];
    source(d, i, results);
    for (std::size_t v = 0; v < at_once; ++v) {
      std::byte* const to = out + (i + v * lanes) * bytes_of<Format>;
      if (streams) {
        stream<Format>(d, results[v], to);
      } else {
        store<Format>(d, results[v], to);
      }
    }
  }
  write_rest<Format>(d, out, source, i, count);
  if (streams) hwy::FlushStream();
}

/// Writes `count` results of `source` to `out`. `source(d, i, lanes)` puts the results from element `i` on into the
/// vectors of the array `lanes`; it may read `out`, but no element of it other than those it gives.
template <class Format, class Source>
HWY_INLINE void write(std::byte* out, const Source& source, std::size_t count, Store how) {
  // Calls with one element are many, and their time is all latency: they get a path without calls or loops.
  if (count == 1) return write_rest<Format>(hn::CappedTag<typename Format::Lane, 1>(), out, source, 0, 1);
  write_vectors<Format>(out, source, count, how);
}

}  // namespace chorus::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
