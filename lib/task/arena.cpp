// SPDX-License-Identifier: Apache-2.0
#include "task/arena.hpp"

#include <array>
#include <new>
#include <utility>

namespace chorus::frame_arena {
namespace {

constexpr std::size_t granule = 64;
constexpr std::size_t classes = 64;  // frames up to 4 KiB are kept

struct FreeFrame {
  FreeFrame* next;
};

struct Lists {
  std::array<FreeFrame*, classes> heads{};

  Lists() = default;
  Lists(const Lists&) = delete;
  Lists& operator=(const Lists&) = delete;
  ~Lists() {
    for (FreeFrame* head : heads) {
      while (head != nullptr) ::operator delete(std::exchange(head, head->next));
    }
    heads = {};
  }
};

thread_local Lists lists;

}  // namespace

void* allocate(std::size_t bytes) {
  const std::size_t size_class = (bytes + granule - 1) / granule;
  if (size_class >= classes) return ::operator new(bytes);
  FreeFrame*& head = lists.heads[size_class];
  if (head == nullptr) return ::operator new(size_class* granule);
  return std::exchange(head, head->next);
}

void release(void* frame, std::size_t bytes) noexcept {
  const std::size_t size_class = (bytes + granule - 1) / granule;
  if (size_class >= classes) return ::operator delete(frame);
  lists.heads[size_class] = new (frame) FreeFrame{lists.heads[size_class]};
}

}  // namespace chorus::frame_arena
