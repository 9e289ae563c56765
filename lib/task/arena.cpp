// SPDX-License-Identifier: Apache-2.0
#include "task/arena.hpp"

#include <array>
#include <new>
#include <utility>

namespace chorus::frame_arena {
namespace {

constexpr std::size_t granule = 64;
constexpr std::size_t classes = 64;  // frames up to 4 KiB are kept,
constexpr std::size_t kept = 256;    // so many of a class: a thread may release what others allocate

struct FreeFrame {
  FreeFrame* next;
};

struct Lists {
  std::array<FreeFrame*, classes> heads{};
  std::array<std::size_t, classes> lengths{};

  Lists() = default;
  Lists(const Lists&) = delete;
  Lists& operator=(const Lists&) = delete;
  ~Lists() {
    for (FreeFrame* head : heads) {
      while (head != nullptr) ::operator delete(std::exchange(head, head->next));
    }
    heads = {};
    lengths = {};
  }
};

thread_local Lists lists;

}  // namespace

void* allocate(std::size_t bytes) {
  const std::size_t size_class = (bytes + granule - 1) / granule;
  if (size_class >= classes) return ::operator new(bytes);
  FreeFrame*& head = lists.heads[size_class];
  if (head == nullptr) return ::operator new(size_class* granule);
  --lists.lengths[size_class];
  return std::exchange(head, head->next);
}

void release(void* frame, std::size_t bytes) noexcept {
  const std::size_t size_class = (bytes + granule - 1) / granule;
  if (size_class >= classes || lists.lengths[size_class] >= kept) return ::operator delete(frame);
  ++lists.lengths[size_class];
  lists.heads[size_class] = new (frame) FreeFrame{lists.heads[size_class]};
}

}  // namespace chorus::frame_arena
