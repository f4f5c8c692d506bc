// SPDX-License-Identifier: Apache-2.0
// Waiting policy `monitor`: the processor watches the cache line and dozes until another processor writes to it. It
// uses UMWAIT or MONITORX on x86, and WFE on ARM. A test at run time shows whether the CPU has these instructions. If
// not, the policy is `yield`. The thread keeps its processor.
//
// The waiter arms the monitor before its last look, so no write between that look and the doze is missed. In any case a
// doze is bounded, by a time on x86 and by the event stream on ARM.
#pragma once

#include <cstdint>

#include <fairlock/waiting/yield.hpp>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace fairlock {
inline namespace v0 {

enum class MonitorKind { none, umwait, monitorx, wfe };

inline MonitorKind monitor_kind() {
#if defined(__x86_64__)
  static const MonitorKind kind = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (c >> 5 & 1)) return MonitorKind::umwait;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d) && (c >> 29 & 1)) return MonitorKind::monitorx;
    return MonitorKind::none;
  }();
  return kind;
#elif defined(__aarch64__)
  return MonitorKind::wfe;
#else
  return MonitorKind::none;
#endif
}

struct Monitor : Yield {
  static constexpr const char* name = "monitor";

  template <class F>
  void step([[maybe_unused]] const void* word, [[maybe_unused]] const F& unchanged) {
#if defined(__x86_64__)
    constexpr std::uint32_t cycles = 20'000;  // of the time stamp counter
    switch (monitor_kind()) {
      case MonitorKind::umwait:
        asm volatile(".byte 0xf3, 0x0f, 0xae, 0xf0" : : "a"(word) : "memory");  // umonitor rax
        if (unchanged()) {
          const std::uint64_t until = __builtin_ia32_rdtsc() + cycles;
          asm volatile(".byte 0xf2, 0x0f, 0xae, 0xf1"  // umwait ecx, until edx:eax
                       :
                       : "c"(1), "d"(static_cast<std::uint32_t>(until >> 32)), "a"(static_cast<std::uint32_t>(until))
                       : "memory", "cc");
        }
        return;
      case MonitorKind::monitorx:
        asm volatile(".byte 0x0f, 0x01, 0xfa" : : "a"(word), "c"(0), "d"(0) : "memory");
        if (unchanged()) asm volatile(".byte 0x0f, 0x01, 0xfb" : : "a"(0), "b"(cycles), "c"(2) : "memory");
        return;
      default: Yield::step(word, unchanged);
    }
#elif defined(__aarch64__)
    std::uint32_t armed;
    asm volatile("ldaxr %w0, [%1]" : "=r"(armed) : "r"(word) : "memory");
    if (unchanged()) asm volatile("wfe" ::: "memory");
#else
    Yield::step(word, unchanged);
#endif
  }
};

}  // namespace v0
}  // namespace fairlock
