// SPDX-License-Identifier: Apache-2.0
// The report: one JSON document for each process, in a file whose name is FAIRLOCK_STATS, a dot and the process's
// number. docs/reference/lock-statistics.md describes it.
//
// A process writes it while it ends, perhaps in a signal handler on a small stack, while other threads go on. So it
// allocates no memory, keeps nothing large on the stack, takes no lock but the loader's own (dladdr), and uses write().
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <string_view>

#include "json.hpp"
#include "ranking.hpp"

// Symbols of the lock that is preloaded behind this object, if there is one.
extern "C" [[gnu::weak, gnu::visibility("default")]] const char fairlock_preload_lock[];
extern "C" [[gnu::weak, gnu::visibility("default")]] const char fairlock_preload_waiting[];
extern "C" [[gnu::weak, gnu::visibility("default")]] std::uint64_t fairlock_preload_parks();

namespace fairlock::stats {
namespace {

constinit char path[4096];  // without the number; empty: no report
// The process of these tallies. A child of vfork, which runs in its parent's memory, is not that process.
constinit pid_t process = 0;
constinit std::atomic<bool> reported{false};

// Writes what the loader knows of an address: its file, the offset in the file (for nm and addr2line), and its symbol
// if that is exported.
void write_location(Json& json, std::uintptr_t address, bool is_call) {
  // A call that never returns may be the last instruction of its function.
  const auto* const inside = reinterpret_cast<const void*>(is_call ? address - 1 : address);
  Dl_info info;
  link_map* map = nullptr;
  const bool located = dladdr1(inside, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0 && map != nullptr;
  json.key("address");
  json.address(address);
  json.key("module");
  if (!located) {
    json.null();
  } else if (map->l_name[0] != '\0') {
    json.text(map->l_name);
  } else {
    static constinit char program[4096];
    const auto length = readlink("/proc/self/exe", program, sizeof program);
    if (length > 0) json.text({program, static_cast<std::size_t>(length)});
    else json.text(info.dli_fname);
  }
  json.key("offset");
  if (located) json.address(address - map->l_addr);
  else json.null();
  json.key("symbol");
  if (!located || info.dli_sname == nullptr) json.null();
  else json.text(info.dli_sname, is_call ? 0 : address - reinterpret_cast<std::uintptr_t>(info.dli_saddr));
}

void write_if_known(Json& json, std::string_view name, std::uint64_t count) {
  json.key(name);
  if (&fairlock_preload_parks == nullptr) json.null();
  else json.number(count);
}

void write(Json& json, const Sums& sums) {
  json.field("contended", sums.contended);
  json.field("abandoned", sums.abandoned);
  json.field("waited_ns", sums.waited);
  json.field("longest_ns", sums.longest);
  write_if_known(json, "parks", sums.parks);
  write_if_known(json, "hand_overs", sums.woken);
}

void write_threads(Json& json, Range range) {
  sort(range, [](auto a, auto b) { return thread_of(Table::at(a)) < thread_of(Table::at(b)); });
  std::uint64_t threads = 0, contending = 0, smallest = ~std::uint64_t{0}, largest = 0;
  double sum = 0, squares = 0;
  json.key("by_thread");
  json.open('[');
  split(range, thread_of, [&](Range part) {
    const Sums sums(part);
    ++threads;
    json.open('{');
    json.field("thread", thread_of(Table::at(*part.begin)));
    json.field("acquisitions", sums.acquisitions);
    json.field("contended", sums.contended);
    json.close('}');
    if (!sums.met_contention()) return;
    ++contending;
    smallest = sums.acquisitions < smallest ? sums.acquisitions : smallest;
    largest = sums.acquisitions > largest ? sums.acquisitions : largest;
    const auto turns = static_cast<double>(sums.acquisitions);
    sum += turns;
    squares += turns * turns;
  });
  json.close(']');
  json.field("threads", threads);
  json.key("fairness");
  if (contending == 0) {
    json.null();
    return;
  }
  json.open('{');
  json.field("threads", contending);
  json.field("smallest", smallest);
  json.field("largest", largest);
  json.key("jain");
  if (squares == 0) json.null();
  else json.share(sum * sum / (static_cast<double>(contending) * squares));
  json.close('}');
}

void write(Json& json, const Object& object) {
  const auto key = object_of(Table::at(*object.range.begin));
  json.open('{');
  json.field("kind", key & 1 ? "semaphore" : "mutex");
  write_location(json, key & ~std::uintptr_t{1}, false);
  json.field("acquisitions", object.sums.acquisitions);
  write(json, object.sums);
  json.key("call_sites");
  json.open('[');
  split(object.range, site_of, [&](Range part) {
    if (const auto site = site_of(Table::at(*part.begin))) {
      json.open('{');
      write_location(json, site, true);
      write(json, Sums(part));
      json.close('}');
    }
  });
  json.close(']');
  write_threads(json, object.range);
  json.close('}');
}

void write_command(Json& json) {
  static constinit char command[4096];
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const auto length = file < 0 ? 0 : read(file, command, sizeof command);
  if (file >= 0) close(file);
  json.key("command");
  json.open('[');
  const char* const end = command + (length < 0 ? 0 : length);
  for (const char* at = command; at < end;) {
    const std::string_view word(at, strnlen(at, static_cast<std::size_t>(end - at)));
    json.text(word);
    at += word.size() + 1;
  }
  json.close(']');
}

void write_process(Json& json) {
  const Range all = collect();
  sort(all, [](auto a, auto b) {
    const Tally &x = Table::at(a), &y = Table::at(b);
    return object_of(x) != object_of(y) ? object_of(x) < object_of(y) : site_of(x) < site_of(y);
  });
  split(all, object_of, [](Range range) { ranking.add({range, Sums(range)}); });
  const Sums sums(all);
  json.open('{');
  json.field("format", "fairlock-lock-statistics");
  json.field("version", 1);
  json.field("pid", process);
  json.field("parent", getppid());
  write_command(json);
  const char *const lock = fairlock_preload_lock, *const waiting = fairlock_preload_waiting;
  json.field("lock", lock == nullptr ? "glibc" : lock);
  json.key("waiting");
  if (waiting == nullptr) json.null();
  else json.text(waiting);
  json.field("threads", Table::threads());
  json.field("acquisitions", sums.acquisitions);
  write(json, sums);
  json.field("uncounted", Table::uncounted());
  json.field("left_out", ranking.left_out);
  json.key("objects");
  json.open('[');
  for (std::uint32_t at = 0; at != ranking.size; ++at) write(json, ranking.objects[at]);
  json.close(']');
  json.close('}');
}

// While this object lives, a write() beyond the file size limit (ulimit -f) fails, and no signal ends the process.
class FileSizeSignalBlocked {
 public:
  FileSizeSignalBlocked() {
    sigemptyset(&limit_);
    sigaddset(&limit_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit_, &before_);
  }
  ~FileSizeSignalBlocked() {
    constexpr timespec at_once{};
    if (sigismember(&before_, SIGXFSZ) == 0) sigtimedwait(&limit_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t limit_, before_;
};

// Writes the report to FILE.PID.
void write_file() {
  const FileSizeSignalBlocked blocked;
  char* const end = path + strlen(path);
  char digits[12], *at = digits + sizeof digits;
  for (auto number = process; number != 0; number /= 10) *--at = static_cast<char>('0' + number % 10);
  *end = '.';
  memcpy(end + 1, at, static_cast<std::size_t>(digits + sizeof digits - at));
  char* const suffix = end + 1 + (digits + sizeof digits - at);
  // Process numbers recur, in another namespace or after many processes. In that case, a letter distinguishes the
  // files.
  int file = -1;
  for (char letter = '\0'; file < 0 && letter <= 'z'; letter = letter == '\0' ? 'a' : static_cast<char>(letter + 1)) {
    suffix[0] = letter;
    suffix[1] = '\0';
    file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0 && errno != EEXIST) break;
  }
  *end = '\0';
  if (file >= 0) {
    Json json(file);
    write_process(json);
    json.end();
    close(file);
  }
}

}  // namespace

void Table::clear() {
  const bool cleared = sysconf(_SC_PAGESIZE) <= 4096 && madvise(&memory_, sizeof memory_, MADV_DONTNEED) == 0;
  if (!cleared) memset(static_cast<void*>(&memory_), 0, sizeof memory_);
  threads_.store(0, relaxed);
  uncounted_.store(0, relaxed);
  number_ = 0;
}

void begin() {
  process = getpid();
  reported.store(false, relaxed);
  if (path[0] != '\0') return;  // the child of a fork inherits the parent's path
  const char* const name = getenv("FAIRLOCK_STATS");
  if (name == nullptr || name[0] == '\0') return;
  std::size_t length = 0;
  if (name[0] != '/') {  // the program may change its directory
    if (getcwd(path, sizeof path) == nullptr) return;
    length = strlen(path);
    path[length++] = '/';
  }
  const auto name_length = strlen(name);
  if (length + name_length + sizeof ".4194304z" > sizeof path) {
    path[0] = '\0';
    return;
  }
  memcpy(path + length, name, name_length + 1);
}

void report() {
  if (path[0] == '\0' || getpid() != process || reported.exchange(true, relaxed)) return;
  int cancellable = 0;
  // The thread that ends the process may have been cancelled before.
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellable);
  const int saved_errno = errno;
  write_file();
  errno = saved_errno;
  pthread_setcancelstate(cancellable, nullptr);
}

}  // namespace fairlock::stats
