// SPDX-License-Identifier: Apache-2.0
// The hapax seqlock: readers never accept a torn record, and writers never wait.
#include <array>

#include <fairlock/hapax_seqlock.hpp>

#include "support/check.hpp"
#include "support/hooked.hpp"

using namespace fairlock;

namespace {

using Record = std::array<std::uint64_t, 8>;

Record record_of(std::uint64_t value) {
  Record record;
  record.fill(value);
  return record;
}

bool whole(const Record& record) {
  return std::ranges::all_of(record, [&](auto word) { return word == record[0]; });
}

void sequential() {
  check::step("sequential");
  HapaxSeqlock<Native<>, Record> seqlock{};
  CHECK(seqlock.read() == record_of(0));  // never written
  for (std::uint64_t n = 1; n < 100; ++n) {
    CHECK(seqlock.write(record_of(n)));
    CHECK(seqlock.read() == record_of(n));
    CHECK(seqlock.read() == record_of(n));
  }
  // A record whose size is not a multiple of the word size.
  struct Odd {
    char text[13];
  };
  HapaxSeqlock<Native<>, Odd> odd{};
  CHECK(odd.write(Odd{"twelve bytes"}));
  CHECK(odd.read() && std::string_view(odd.read()->text) == "twelve bytes");
}

void concurrent(unsigned writers, unsigned readers) {
  check::step(std::to_string(writers), "writers,", std::to_string(readers), "readers");
  HapaxSeqlock<Native<>, Record> seqlock{};
  std::atomic<unsigned> writing{writers};
  std::atomic<std::uint64_t> accepted{0}, torn{0};
  check::together(writers + readers, [&](unsigned i) {
    if (i < writers) {
      for (std::uint64_t n = check::rounds(5000); n > 0; --n) {
        seqlock.write(record_of(n * writers + i + 1));
        if (n % 64 == 0) std::this_thread::yield();
      }
      writing.fetch_sub(1);
      return;
    }
    std::uint64_t latest = ~std::uint64_t{0};
    while (writing.load() != 0) {
      if (const auto record = seqlock.read()) {
        CHECK(whole(*record));
        // Each writer counts down, so with a single writer a reader must never see an older record.
        if (writers == 1 && (*record)[0] != 0) {
          CHECK((*record)[0] <= latest);
          latest = (*record)[0];
        }
        accepted.fetch_add(1, std::memory_order_relaxed);
      } else {
        torn.fetch_add(1, std::memory_order_relaxed);
        std::this_thread::yield();
      }
    }
  });
  // A write that overlaps with no other leaves a whole record, whatever the writers before it left.
  CHECK(seqlock.write(record_of(7)));
  CHECK(seqlock.read() == record_of(7));
  std::printf("%u writers, %u readers: %llu copies accepted, %llu torn\n", writers, readers,
              static_cast<unsigned long long>(accepted), static_cast<unsigned long long>(torn));
}

// One writer stops in the middle of its record, at each of its operations in turn. Other threads still write and read
// without waiting for it. No reader accepts a mixture, neither then nor after the writer has continued.
void writers_never_wait() {
  for (unsigned at = 1;; ++at) {
    check::step("a writer stopped before its operation", std::to_string(at));
    HapaxSeqlock<Hooked, Record> seqlock{};
    const auto read = [&] {
      const auto record = seqlock.read();
      CHECK(!record || whole(*record));
      return record;
    };
    CHECK(seqlock.write(record_of(1)));
    Stop stop;
    std::atomic<bool> over{false};
    std::thread slow([&] {
      Hooked::hook() = [&, n = 0u](Operation) mutable {
        if (++n == at) stop.here();
      };
      seqlock.write(record_of(2));
      over = true;
    });
    check::wait_until([&] { return stop.reached() || over; });
    const bool stopped = stop.reached();
    read();
    for (std::uint64_t n = 3; n < 6; ++n) {
      const bool alone = seqlock.write(record_of(n));
      const auto record = read();
      if (alone) CHECK(record && (*record)[0] == n);
    }
    stop.open();
    slow.join();
    read();
    CHECK(seqlock.write(record_of(9)));
    CHECK(read() == record_of(9));
    if (!stopped) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  sequential();
  concurrent(1, 1);
  concurrent(1, 3);
  concurrent(2, 2);
  concurrent(4, 2);
  writers_never_wait();
  return check::result();
}
