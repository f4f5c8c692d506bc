// SPDX-License-Identifier: Apache-2.0
#include "harness/hardware_counters.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace bench {
namespace {

constexpr struct {
  const char* name;
  std::uint64_t event;
} counters[] = {
    {"cycles", PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_COUNT_HW_INSTRUCTIONS},
    {"cache_misses", PERF_COUNT_HW_CACHE_MISSES},
};

const char* reason(int error) {
  switch (error) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP: return "this machine provides no access to hardware counters";
    case EACCES:
    case EPERM: return "not permitted: see /proc/sys/kernel/perf_event_paranoid";
    default: return std::strerror(error);
  }
}

int open_counter(std::uint64_t event) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = event;
  attributes.disabled = 1;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;  // an ordinary user may not count in the kernel
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

HardwareCounters::HardwareCounters() {
  static_assert(std::size(counters) == number);
  for (std::size_t i = 0; i < number; ++i) {
    files_[i] = open_counter(counters[i].event);
    if (files_[i] < 0 && unavailable_.empty()) unavailable_ = std::string("perf_event_open: ") + reason(errno);
  }
}

HardwareCounters::~HardwareCounters() {
  for (const int file : files_)
    if (file >= 0) close(file);
}

void HardwareCounters::enable(bool on) {
  for (const int file : files_)
    if (file >= 0) ioctl(file, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void HardwareCounters::write(Json& json, double episodes) const {
  json.object("perf", [&] {
    if (!unavailable_.empty()) return json.text("unavailable", unavailable_);
    for (std::size_t i = 0; i < number; ++i) {
      std::uint64_t value[3] = {};  // the count, how long it was enabled, and how long it ran
      if (read(files_[i], value, sizeof value) != sizeof value || value[2] == 0 || episodes == 0) {
        json.null(counters[i].name);
        continue;
      }
      // If the processor has too few counters, the kernel runs them in turn: scale the count up.
      const double scale = static_cast<double>(value[1]) / static_cast<double>(value[2]);
      json.number(counters[i].name, static_cast<double>(value[0]) * scale / episodes);
    }
  });
}

}  // namespace bench
