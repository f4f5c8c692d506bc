// SPDX-License-Identifier: Apache-2.0
// Test-and-set locks: one word. The thread that changes it from 0 to 1 holds the lock. Barging: no bound on bypass.
//
//   tas           exchange until the result is 0
//   tts           look until the word is 0, then exchange ("test and test-and-set": waiters share the cache line)
//   tts-backoff   the same, with a random pause after each failed exchange; its bound doubles up to a limit
//
//   field   holds              written by
//   word_   0 free, 1 held     a thread that tries (1), the owner (0)
#pragma once

#include <fairlock/episode.hpp>
#include <fairlock/platform/platform.hpp>

namespace fairlock {
inline namespace v0 {

struct TasOptions {
  bool look_first = false;
  unsigned backoff = 0;  // the first bound on the pause after a failed exchange; 0: none
  unsigned max_backoff = 1024;
};

template <Platform P, TasOptions O = TasOptions{}>
class TasLock {
 public:
  using Episode = NoContext;

  static constexpr Properties properties{
      .name = O.backoff      ? "tts-backoff"
              : O.look_first ? "tts"
                             : "tas",
      .source = O.look_first ? "Rudolph, Segall 1984" : "folklore",
      .spinning = "U+G",
      .order = Order::barging,
  };

  Episode acquire() {
    if constexpr (!O.look_first) {
      P::await_exchange(word_, 1u, [](auto was) { return was == 0; }, order::acquire);
    } else {
      for (unsigned bound = O.backoff;; bound = bound < O.max_backoff ? bound * 2 : bound) {
        P::await(word_, [](auto now) { return now == 0; }, order::relaxed);
        if (word_.exchange(1, order::acquire) == 0) break;
        if constexpr (O.backoff != 0) P::pause(1 + static_cast<unsigned>(P::random()) % bound);
      }
    }
    return {};
  }

  std::optional<Episode> try_acquire() {
    if (word_.load(order::relaxed) != 0 || word_.exchange(1, order::acquire) != 0) return std::nullopt;
    return Episode{};
  }

  template <Until U>
  std::optional<Episode> acquire_until(const U& until) {
    for (;;) {
      if (const auto episode = try_acquire()) return episode;
      if (!P::await_until(word_, [](auto now) { return now == 0; }, until, order::relaxed)) return std::nullopt;
    }
  }

  void release(Episode) { P::publish(word_, 0u); }

  bool locked() const { return word_.load(order::relaxed) != 0; }

  template <class V>
  void fields(V&& visit) const {
    visit("word", word_);
  }

 private:
  typename P::template atomic<std::uint32_t> word_;
};

}  // namespace v0
}  // namespace fairlock
