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

// Between two looks. Whoever looks more often keeps taking the line from the owner who is about to write it: two threads
// on a ticket lock get nearly twice as much done with four pauses as with one.
inline void rest() {
  for (int i = 0; i < 4; ++i) relax();
}

}  // namespace v0
}  // namespace fairlock
