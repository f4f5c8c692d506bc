// SPDX-License-Identifier: Apache-2.0
// The report: one JSON document for each process, in the file that FAIRLOCK_STATS names, with the process's number
// behind it.
//
// It is written while the process ends, perhaps by a signal handler on a small stack, and while other threads go on: no
// memory is allocated, nothing large is on the stack, nothing is locked but the loader's own lock (dladdr), and all
// goes out by write(). docs/reference/lock-statistics.md describes it.
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
#include <utility>

#include "tally.hpp"

// Of the lock that is preloaded behind us.
extern "C" [[gnu::weak, gnu::visibility("default")]] const char fairlock_preload_lock[];
extern "C" [[gnu::weak, gnu::visibility("default")]] const char fairlock_preload_waiting[];
extern "C" [[gnu::weak, gnu::visibility("default")]] std::uint64_t fairlock_preload_parks();

namespace fairlock::stats {
namespace {

constexpr std::uint32_t most = 200;  // objects in a report

constinit char path[4096];  // without the number; empty: no report
// Whose tallies these are. Not those of a vfork's child, which runs in its parent's memory.
constinit pid_t process = 0;
constinit std::atomic<bool> reported{false};

// --- JSON ---

class Json {
 public:
  explicit Json(int file) : file_(file) {}

  void end() { flush(); }

  void open(char bracket) {
    begin();
    put(bracket);
    first_ = true;
  }
  void close(char bracket) {
    put(bracket);
    first_ = false;
  }
  void key(std::string_view name) {
    text(name);
    put(':');
    first_ = true;
  }

  void null() { raw("null"); }
  void raw(std::string_view value) {
    begin();
    put(value);
  }

  void number(std::uint64_t value) {
    begin();
    digits(value, 10);
  }
  void address(std::uintptr_t value) {
    begin();
    put("\"0x");
    digits(value, 16);
    put('"');
  }
  // From 0 to 1.
  void share(double value) {
    begin();
    const auto parts = static_cast<std::uint64_t>(value * 10'000 + 0.5);
    digits(parts / 10'000, 10);
    put('.');
    for (std::uint64_t unit = 1'000; unit != 0; unit /= 10) put(static_cast<char>('0' + parts / unit % 10));
  }

  void text(std::string_view value, std::uint64_t offset = 0) {
    begin();
    put('"');
    for (const char c : value) {
      if (c == '"' || c == '\\') {
        put('\\');
        put(c);
      } else if (static_cast<unsigned char>(c) < 0x20) {
        put("\\u00");
        put(hex[c >> 4]);
        put(hex[c & 15]);
      } else {
        put(c);
      }
    }
    if (offset != 0) {
      put("+0x");
      digits(offset, 16);
    }
    put('"');
  }

  template <class... T>
  void field(std::string_view name, const T&... value) {
    key(name);
    if constexpr ((std::is_integral_v<T> && ...)) number(value...);
    else text(value...);
  }

 private:
  static constexpr char hex[] = "0123456789abcdef";

  void begin() {
    if (!first_) put(",");
    first_ = false;
  }
  void digits(std::uint64_t value, unsigned base) {
    char buffer[20];
    auto* at = buffer + sizeof buffer;
    do *--at = hex[value % base];
    while ((value /= base) != 0);
    put(std::string_view(at, static_cast<std::size_t>(buffer + sizeof buffer - at)));
  }
  void put(std::string_view value) {
    for (const char c : value) put(c);
  }
  void put(char c) {
    if (used_ == sizeof buffer_) flush();
    buffer_[used_++] = c;
  }
  void flush() {
    for (std::size_t done = 0; done < used_;) {
      const auto written = write(file_, buffer_ + done, used_ - done);
      if (written <= 0) break;  // a full disk: what there is is no document, and is taken for none
      done += static_cast<std::size_t>(written);
    }
    used_ = 0;
  }

  int file_;
  bool first_ = true;
  std::size_t used_ = 0;
  static inline constinit char buffer_[4096];
};

// --- the tallies, by object ---

// Which tallies there are, sorted.
constinit std::uint32_t order_[capacity];

struct Range {
  std::uint32_t *begin, *end;
  std::uint32_t size() const { return static_cast<std::uint32_t>(end - begin); }
};

// A heap sort: qsort may allocate.
template <class F>
void sort(Range range, const F& less) {
  auto* const heap = range.begin;
  const auto sink = [&](std::uint32_t at, std::uint32_t size) {
    for (std::uint32_t child; (child = 2 * at + 1) < size; at = child) {
      if (child + 1 < size && less(heap[child], heap[child + 1])) ++child;
      if (!less(heap[at], heap[child])) return;
      std::swap(heap[at], heap[child]);
    }
  };
  for (auto at = range.size() / 2; at-- != 0;) sink(at, range.size());
  for (auto size = range.size(); size > 1;) {
    std::swap(heap[0], heap[--size]);
    sink(0, size);
  }
}

// Calls each(part) for every run of tallies of which by(tally) is the same.
template <class By, class F>
void split(Range range, const By& by, const F& each) {
  for (auto* from = range.begin; from != range.end;) {
    auto* to = from;
    while (to != range.end && by(Table::at(*to)) == by(Table::at(*from))) ++to;
    each(Range{from, to});
    from = to;
  }
}

std::uintptr_t object_of(const Tally& tally) { return tally.object.load(relaxed); }
std::uintptr_t site_of(const Tally& tally) { return tally.site.load(relaxed); }
std::uint32_t thread_of(const Tally& tally) { return tally.thread.load(relaxed); }

struct Sums {
  std::uint64_t acquisitions = 0, contended = 0, abandoned = 0, woken = 0, waited = 0, longest = 0, parks = 0;

  Sums() = default;
  explicit Sums(Range range) {
    for (const auto* at = range.begin; at != range.end; ++at) {
      const Tally& tally = Table::at(*at);
      const auto count = tally.acquisitions.load(relaxed), slowest = tally.longest.load(relaxed);
      acquisitions += count;
      if (site_of(tally) != 0) contended += count;
      abandoned += tally.abandoned.load(relaxed);
      woken += tally.woken.load(relaxed);
      waited += tally.waited.load(relaxed);
      longest = longest < slowest ? slowest : longest;
      parks += tally.parks.load(relaxed);
    }
  }

  bool met_contention() const { return contended + abandoned != 0; }
};

struct Object {
  Range range;
  Sums sums;

  bool before(const Object& other) const {
    if (sums.waited != other.sums.waited) return sums.waited > other.sums.waited;
    if (sums.abandoned != other.sums.abandoned) return sums.abandoned > other.sums.abandoned;
    return sums.acquisitions > other.sums.acquisitions;
  }
};

// The most waiting first.
struct Ranking {
  Object objects[most];
  std::uint32_t size, left_out;

  void add(Object object) {
    if (size == most) ++left_out;
    else ++size;
    for (auto at = size; at-- != 0;) {
      if (at == size - 1 && left_out != 0 && !object.before(objects[at])) return;
      if (at == 0 || !object.before(objects[at - 1])) {
        objects[at] = object;
        return;
      }
      objects[at] = objects[at - 1];
    }
  }
};
constinit Ranking ranking{};

Range collect() {
  std::uint32_t size = 0;
  if (Table::threads() == 0) return {order_, order_};  // a table that nobody has touched has no pages yet
  for (std::uint32_t index = 0; index != capacity; ++index)
    if (Table::at(index).object.load(std::memory_order_acquire) != 0) order_[size++] = index;
  return {order_, order_ + size};
}

// --- what is written ---

// Where an address is, as far as the loader knows: the file, the address in it as nm and addr2line understand it, and
// the symbol if it is exported.
void place(Json& json, std::uintptr_t address, bool is_call) {
  // A call that never returns may be the last instruction of its function.
  const auto* const inside = reinterpret_cast<const void*>(is_call ? address - 1 : address);
  Dl_info info;
  link_map* map = nullptr;
  const bool found = dladdr1(inside, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0 && map != nullptr;
  json.key("address");
  json.address(address);
  json.key("module");
  if (!found) {
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
  if (found) json.address(address - map->l_addr);
  else json.null();
  json.key("symbol");
  if (!found || info.dli_sname == nullptr) json.null();
  else json.text(info.dli_sname, is_call ? 0 : address - reinterpret_cast<std::uintptr_t>(info.dli_saddr));
}

void known_parks(Json& json, std::string_view name, std::uint64_t count) {
  json.key(name);
  if (&fairlock_preload_parks == nullptr) json.null();
  else json.number(count);
}

void write(Json& json, const Sums& sums) {
  json.field("contended", sums.contended);
  json.field("abandoned", sums.abandoned);
  json.field("waited_ns", sums.waited);
  json.field("longest_ns", sums.longest);
  known_parks(json, "parks", sums.parks);
  known_parks(json, "hand_overs", sums.woken);
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
  place(json, key & ~std::uintptr_t{1}, false);
  json.field("acquisitions", object.sums.acquisitions);
  write(json, object.sums);
  json.key("call_sites");
  json.open('[');
  split(object.range, site_of, [&](Range part) {
    if (const auto site = site_of(Table::at(*part.begin))) {
      json.open('{');
      place(json, site, true);
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

// While this lives, a file that may not grow (ulimit -f) is an error of write(), and not the end of the process.
class Unlimited {
 public:
  Unlimited() {
    sigemptyset(&limit_);
    sigaddset(&limit_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit_, &before_);
  }
  ~Unlimited() {
    constexpr timespec at_once{};
    if (sigismember(&before_, SIGXFSZ) == 0) sigtimedwait(&limit_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t limit_, before_;
};

// To FILE.PID.
void write_file() {
  const Unlimited unlimited;
  char* const end = path + strlen(path);
  char digits[12], *at = digits + sizeof digits;
  for (auto rest = process; rest != 0; rest /= 10) *--at = static_cast<char>('0' + rest % 10);
  *end = '.';
  memcpy(end + 1, at, static_cast<std::size_t>(digits + sizeof digits - at));
  char* const rest = end + 1 + (digits + sizeof digits - at);
  // Numbers come again: in another namespace, or after many processes. Then a letter tells them apart.
  int file = -1;
  for (char letter = '\0'; file < 0 && letter <= 'z'; letter = letter == '\0' ? 'a' : static_cast<char>(letter + 1)) {
    rest[0] = letter;
    rest[1] = '\0';
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
  if (path[0] != '\0') return;  // the child of a fork: the parent has found out
  const char* const name = getenv("FAIRLOCK_STATS");
  if (name == nullptr || name[0] == '\0') return;
  std::size_t length = 0;
  if (name[0] != '/') {  // the program may go elsewhere
    if (getcwd(path, sizeof path) == nullptr) return;
    length = strlen(path);
    path[length++] = '/';
  }
  const auto rest = strlen(name);
  if (length + rest + sizeof ".4194304z" > sizeof path) {
    path[0] = '\0';
    return;
  }
  memcpy(path + length, name, rest + 1);
}

void report() {
  if (path[0] == '\0' || getpid() != process || reported.exchange(true, relaxed)) return;
  int cancellable = 0;
  // A thread that ends the process may have been cancelled before.
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellable);
  const int before = errno;
  write_file();
  errno = before;
  pthread_setcancelstate(cancellable, nullptr);
}

}  // namespace fairlock::stats
