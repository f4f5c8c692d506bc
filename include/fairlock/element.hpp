// Elements: the queue nodes and gates that a waiter owns while it waits.
//
// PerThread gives every thread one element: nothing to allocate, but only the thread that acquired may release, and it
// must not arrive again at a lock that it holds. PerEpisode takes an element for each episode from a free list of the
// thread and gives it back to whichever thread releases, so any thread may.
#pragma once

#include <fairlock/platform.hpp>

namespace fairlock {
inline namespace v0 {

enum class Elements { per_thread, per_episode };

// What Spares needs of an element: a link for the free list, used only while nobody else knows the element.
template <Platform P, class T>
struct Spare {
  typename P::template plain<T*> next_spare;
};

// A thread's free list of T. All zero: empty.
template <class T>
struct Spares {
  static constexpr unsigned most = 64;  // a thread that releases what others acquire would collect them without end
  T* top;
  unsigned count;
  bool kept;  // the platform will empty this list when the thread ends
  bool over;  // the thread is ending: free at once, keep nothing
};

template <Platform P, class T>
struct PerEpisode {
  static T* take() {
    auto& spares = P::template local<Spares<T>>();
    if (T* element = spares.top) [[likely]] {
      spares.top = element->next_spare;
      --spares.count;
      return element;
    }
    return P::template create<T>();
  }

  static void give(T* element) {
    auto& spares = P::template local<Spares<T>>();
    if (!spares.kept) [[unlikely]] {
      if (!spares.over) {
        spares.kept = true;
        P::keep(&free_all, &spares);  // frees at once, and so says `over`, where the thread has done its exit work
      }
      if (spares.over) return P::destroy(element);
    }
    if (spares.count == spares.most) [[unlikely]] return P::destroy(element);
    element->next_spare = spares.top;
    spares.top = element;
    ++spares.count;
  }

 private:
  static void free_all(void* list) {
    auto& spares = *static_cast<Spares<T>*>(list);
    spares.kept = false;
    spares.over = true;
    spares.count = 0;
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
