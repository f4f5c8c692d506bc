// SPDX-License-Identifier: Apache-2.0
// The instruction that makes a busy wait polite.
#pragma once

namespace fairlock {
inline namespace v0 {

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  asm volatile("yield" ::: "memory");
#else
  asm volatile("" ::: "memory");
#endif
}

// Between two looks. A waiter that looks more often keeps taking the cache line from the owner that is about to write
// it: two threads on a ticket lock get nearly twice as much done with four pauses as with one.
inline constexpr unsigned pauses_per_rest = 4;
inline void rest() {
  for (unsigned i = 0; i < pauses_per_rest; ++i) relax();
}

// Rests that grow, for a word that its owner may write at any time. The first looks come soon, because the wait may be
// nearly over. The later ones are rare: each takes the cache line from the owner, whose data may be in it too.
class GrowingRests {
 public:
  explicit GrowingRests(unsigned rests) : left_(rests * pauses_per_rest) {}

  // False: they have taken as long as `rests` ordinary ones.
  bool rest() {
    if (left_ == 0) return false;
    const unsigned pauses = next_ < left_ ? next_ : left_;
    for (unsigned i = 0; i < pauses; ++i) relax();
    left_ -= pauses;
    if (next_ < longest) next_ *= 2;
    return true;
  }

 private:
  static constexpr unsigned longest = 32;
  unsigned left_, next_ = 1;
};

}  // namespace v0
}  // namespace fairlock
