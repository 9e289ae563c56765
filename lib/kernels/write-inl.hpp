// SPDX-License-Identifier: Apache-2.0

// The one loop of all vectorised kernels: `write` asks a source for vectors of results and stores them. Compiled once
// for each instruction set; included after hwy/foreach_target.h.
//
// There is no scalar tail. The last vector of a buffer overlaps the one before it, and a buffer shorter than a vector
// is written with half vectors, quarter vectors, ... down to one lane: each element is computed by the same
// instructions wherever it lies, and nothing outside the buffers is touched.
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

/// Writes up to two vectors of results, overlapping, or fewer by shorter vectors. All inputs are read before the first
/// store, because `out` may be one of them.
template <class Format, class D, class Source>
HWY_INLINE void write_short(D d, std::byte* out, const Source& source, std::size_t count) {
  constexpr std::size_t lanes = hn::MaxLanes(D());
  if (count >= lanes) {
    hn::Vec<D> first[1];
    hn::Vec<D> last[1];
    source(d, 0, first);
    source(d, count - lanes, last);
    store<Format>(d, first[0], out);
    store<Format>(d, last[0], out + (count - lanes) * bytes_of<Format>);
  } else if constexpr (lanes > 1) {
    write_short<Format>(hn::Half<D>(), out, source, count);
  }
}

/// Streams whole blocks of `at_once` vectors from the first cache line that starts in `out`; plain stores lead up to
/// it. Gives the number of elements written: 0 where `out` is not aligned to its elements or too short.
template <class Format, std::size_t at_once, class D, class Source>
HWY_INLINE std::size_t write_streamed(D d, std::byte* out, const Source& source, std::size_t count) {
  constexpr std::size_t lanes = hn::MaxLanes(D());
  constexpr std::size_t line = 64;
  if constexpr (lanes * bytes_of<Format> % HWY_STREAM_MULTIPLE == 0) {
    const auto past_line = std::bit_cast<std::uintptr_t>(out) % line;
    const std::size_t head = (line - past_line) % line / bytes_of<Format>;
    if (past_line % bytes_of<Format> != 0 || count < head + at_once * lanes) return 0;
    hn::Vec<D> results[at_once];
    for (std::size_t i = 0; i < head; i += lanes) {
      hn::Vec<D> result[1];
      source(d, i, result);
      store<Format>(d, result[0], out + i * bytes_of<Format>);
    }
    std::size_t i = head;
    for (; i + at_once * lanes <= count; i += at_once * lanes) {
      source(d, i, results);
      for (std::size_t v = 0; v < at_once; ++v) {
        std::byte* const to = out + (i + v * lanes) * bytes_of<Format>;
        hn::Stream(Format::narrow(d, results[v]), Elements<Format, D>(),
                   reinterpret_cast<typename Format::Element*>(to));
      }
    }
    hwy::FlushStream();
    return i;
  }
  return 0;
}

/// Writes `count` results of `source` to `out`. `source(d, i, lanes)` puts the results from element `i` on into the
/// vectors of the array `lanes`; it may read `out`, but no element of it other than those it gives.
template <class Format, class Source>
HWY_INLINE void write(std::byte* out, const Source& source, std::size_t count, Store how) {
  using D = hn::ScalableTag<typename Format::Lane>;
  const D d;
  constexpr std::size_t lanes = hn::MaxLanes(D());
  constexpr std::size_t at_once = 4;
  if (count <= 2 * lanes) return write_short<Format>(d, out, source, count);

  hn::Vec<D> last[1];
  source(d, count - lanes, last);
  std::size_t i = how == Store::streamed ? write_streamed<Format, at_once>(d, out, source, count) : 0;
  for (; i + at_once * lanes <= count; i += at_once * lanes) {
    hn::Vec<D> results[at_once];
    source(d, i, results);
    for (std::size_t v = 0; v < at_once; ++v) store<Format>(d, results[v], out + (i + v * lanes) * bytes_of<Format>);
  }
  for (; i + lanes <= count; i += lanes) {
    hn::Vec<D> result[1];
    source(d, i, result);
    store<Format>(d, result[0], out + i * bytes_of<Format>);
  }
  store<Format>(d, last[0], out + (count - lanes) * bytes_of<Format>);
}

}  // namespace chorus::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
