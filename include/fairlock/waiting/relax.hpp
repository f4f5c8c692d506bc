// SPDX-License-Identifier: Apache-2.0
// The pauses of a busy wait.
#pragma once

namespace fairlock {
inline namespace v0 {

// One instruction that tells the processor that the thread is busy waiting.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  asm volatile("yield" ::: "memory");
#else
  asm volatile("" ::: "memory");
#endif
}

// The pause between two looks. A waiter that looks more often keeps taking the cache line from the owner, which is
// about to write to it. Two threads on a ticket lock do nearly twice as much work with four pauses as with one.
inline constexpr unsigned pauses_per_rest = 4;
inline void rest() {
  for (unsigned i = 0; i < pauses_per_rest; ++i) relax();
}

// Pauses that grow, for a word that the owner may write at any time. The first looks follow quickly, because the wait
// may be nearly over. Later looks are rare, because each takes the cache line from the owner, whose data may share it.
class GrowingRests {
 public:
  explicit GrowingRests(unsigned rests) : left_(rests * pauses_per_rest) {}

  // False: the pauses have taken as long as `rests` ordinary rests.
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
