// SPDX-License-Identifier: Apache-2.0
// Elements: the queue nodes and gates that a waiter owns while it waits.
//
// PerThread gives every thread one element. Nothing is allocated, but only the thread that acquired may release, and it
// must not arrive again at a lock that it holds. PerEpisode takes an element for each episode from the thread's free
// list. The thread that releases puts the element on its own free list, so any thread may release.
//
// Only take() allocates. Every lock takes its element before it touches its own words, so an acquire that throws
// std::bad_alloc leaves the lock as it was.
//
// give() never allocates, because it is part of release. A thread that has released but never acquired has no list that
// is freed at its exit, so give() frees the element at once.
#pragma once

#include <fairlock/platform/platform.hpp>

namespace fairlock {
inline namespace v0 {

enum class Elements { per_thread, per_episode };

// The base of an element: a link for the free list, used only while no other thread knows the element.
template <Platform P, class T>
struct Spare {
  typename P::template plain<T*> next_spare;
};

// A thread's free list of T. All zero: empty.
template <class T>
struct Spares {
  // Without a limit, a thread that only releases what other threads acquired would collect elements without end.
  static constexpr unsigned most = 64;
  T* top;
  unsigned room;  // how many more elements fit; 0 until the list is registered to be freed at thread exit
};

template <Platform P, class T>
struct PerEpisode {
  static T* take() {
    auto& spares = P::template local<Spares<T>>();
    if (T* element = spares.top) [[likely]] {
      spares.top = element->next_spare;
      ++spares.room;
      return element;
    }
    return create(spares);
  }

  static void give(T* element) {
    auto& spares = P::template local<Spares<T>>();
    if (spares.room == 0) [[unlikely]]
      return P::destroy(element);
    element->next_spare = spares.top;
    spares.top = element;
    --spares.room;
  }

 private:
  [[gnu::noinline]] static T* create(Spares<T>& spares) {
    T* const element = P::template create<T>();
    if (spares.room == 0) {
      // Set the room first, because free_at_exit may allocate, and malloc may use one of our locks. If the thread has
      // already done its exit work, free_at_exit calls free_all at once, and the room is 0 again.
      spares.room = spares.most;
      P::free_at_exit(&free_all, &spares);
    }
    return element;
  }

  static void free_all(void* list) {
    auto& spares = *static_cast<Spares<T>*>(list);
    spares.room = 0;
    while (T* element = spares.top) {
      spares.top = element->next_spare;
      P::destroy(element);
    }
  }
};

template <Platform P, class T>
struct PerThread {
  static T* take() { return &P::template local<T>(); }
  static void give(T*) {}
};

template <Platform P, class T, Elements E>
using ElementsOf = std::conditional_t<E == Elements::per_thread, PerThread<P, T>, PerEpisode<P, T>>;

}  // namespace v0
}  // namespace fairlock
