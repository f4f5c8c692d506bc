// SPDX-License-Identifier: Apache-2.0
// Shared memory: other processes may use an object there, even if the program did not declare it process-shared.
//
// POSIX demands PTHREAD_PROCESS_SHARED for a mutex that several processes use. Some programs forget it and get away
// with it, because glibc's mutex needs the attribute only to wake a thread of another process. Our locks need more:
// `clh` leaves a pointer to private memory in an unlocked mutex, and most waiters sleep on words of their own process.
// So a mutex in shared memory belongs to glibc, as if it had the attribute.
//
// mmap and shmat (preload.cpp) report shared memory that can be written. A program without such memory pays one load at
// the first use of each mutex, and nothing later. Ranges are never removed: before a mutex is given to glibc, the
// kernel confirms that its page is shared.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fairlock::preload {

class AddressRange {
 public:
  bool contains(std::uintptr_t first, std::uintptr_t last) const {
    return begin_.load(std::memory_order_relaxed) <= first && last < end_.load(std::memory_order_relaxed);
  }

  // How many more bytes the range would cover if it were extended.
  std::uintptr_t growth(std::uintptr_t begin, std::uintptr_t end) const {
    const auto lowest = begin_.load(std::memory_order_relaxed), highest = end_.load(std::memory_order_relaxed);
    return std::max(highest, end) - std::min(lowest, begin) - (highest - lowest);
  }

  void extend(std::uintptr_t begin, std::uintptr_t end) {
    auto lowest = begin_.load(std::memory_order_relaxed), highest = end_.load(std::memory_order_relaxed);
    while (begin < lowest && !begin_.compare_exchange_weak(lowest, begin, std::memory_order_relaxed)) {}
    while (highest < end && !end_.compare_exchange_weak(highest, end, std::memory_order_relaxed)) {}
  }

 private:
  std::atomic<std::uintptr_t> begin_{~std::uintptr_t{0}}, end_{0};
};

class SharedMemory {
 public:
  // Whether mmap with these arguments makes shared memory that can be written.
  static bool is_shared_mapping(int protection, int flags) {
    const int type = flags & MAP_TYPE;
    return (protection & PROT_WRITE) != 0 && (type == MAP_SHARED || type == MAP_SHARED_VALIDATE);
  }

  // Lock-free, because a signal handler may map memory. When all ranges are in use, the nearest one grows.
  static void add(const void* memory, std::size_t size) {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    const auto end = (begin + size + page_size() - 1) & ~(page_size() - 1);
    auto used = used_.load(std::memory_order_relaxed);
    for (unsigned i = 0; i != used; ++i)
      if (ranges_[i].contains(begin, end - 1)) return;
    while (used != max_ranges && !used_.compare_exchange_weak(used, used + 1, std::memory_order_relaxed)) {}
    const auto grows_less = [&](auto& a, auto& b) { return a.growth(begin, end) < b.growth(begin, end); };
    auto& range = used != max_ranges ? ranges_[used] : *std::min_element(ranges_, ranges_ + max_ranges, grows_less);
    range.extend(begin, end);
  }

  static bool any() { return used_.load(std::memory_order_relaxed) != 0; }

  // Whether an object lies in shared memory. The caller must have written to its page.
  static bool holds(const void* object) {
    const auto used = used_.load(std::memory_order_relaxed);
    const auto address = reinterpret_cast<std::uintptr_t>(object);
    for (unsigned i = 0; i != used; ++i)
      if (ranges_[i].contains(address, address)) return !is_private(address);
    return false;
  }

 private:
  static constexpr unsigned max_ranges = 64;

  static std::uintptr_t page_size() { return static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)); }

  // Without /proc the result is false, and the mutex becomes glibc's. No call here is a cancellation point.
  [[gnu::cold, gnu::noinline]] static bool is_private(std::uintptr_t address) {
    constexpr std::uint64_t in_memory = std::uint64_t{1} << 63, of_file_or_shared = std::uint64_t{1} << 61;
    const int saved_errno = errno;
    const long file = syscall(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    std::uint64_t page = 0;
    if (file >= 0) {
      const auto at = address / page_size() * sizeof page;
      // The kernel may swap the page out between our access to it and the read of pagemap.
      for (unsigned tries = 0; tries != 100 && (page & in_memory) == 0; ++tries) {
        static_cast<void>(*reinterpret_cast<const volatile char*>(address));
        if (syscall(SYS_pread64, file, &page, sizeof page, at) != sizeof page) page = 0;
      }
      syscall(SYS_close, file);
    }
    errno = saved_errno;
    return (page & in_memory) != 0 && (page & of_file_or_shared) == 0;
  }

  static inline constinit AddressRange ranges_[max_ranges]{};
  static inline constinit std::atomic<unsigned> used_{0};
};

}  // namespace fairlock::preload
