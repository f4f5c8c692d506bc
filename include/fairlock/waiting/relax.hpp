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

}  // namespace v0
}  // namespace fairlock
