// SPDX-License-Identifier: Apache-2.0
// The hash functions follow the papers' formulas, stay in range, visit every slot, and put neighbours on different
// sectors.
#include <set>

#include <fairlock/detail/hash.hpp>
#include <fairlock/platform/domain.hpp>

#include "support/check.hpp"

using namespace fairlock;

namespace {

constexpr TicketHash ticket_hashes[] = {TicketHash::weyl127, TicketHash::weyl17, TicketHash::pairs,
                                        TicketHash::orbits,  TicketHash::gray,   TicketHash::mixed};
constexpr HapaxHash hapax_hashes[] = {HapaxHash::block, HapaxHash::runs, HapaxHash::mixed};
constexpr std::uint32_t salts[] = {0, 8, 0x10, 0x7fff'fff8, 0xffff'fff0, 0x1234'5678};
constexpr std::uint64_t starts[] = {0, 1, 4095, 0xffff'fff0, 0x1'0000'0000, 0x7fff'ffff'ffff'0000};

void formulas() {
  for (const std::uint32_t salt : salts)
    for (const std::uint64_t start : starts)
      for (std::uint64_t t = start; t < start + 5000; ++t) {
        // TWA paper: (ticket * 127 XOR lock) & 4095.
        CHECK(slot_of_ticket(TicketHash::weyl127, salt, t, 4096) == ((t * 127) ^ salt) % 4096);
        // Semaphore paper: lock + ticket * 17, in arrays of 2048 and of 4096.
        CHECK(slot_of_ticket(TicketHash::weyl17, salt, t, 2048) == (salt + t * 17) % 2048);
        CHECK(slot_of_ticket(TicketHash::weyl17, salt, t, 4096) == (salt + t * 17) % 4096);
        // Hapax paper: (salt + block) * 17, blocks of 64K.
        CHECK(slot_of_hapax(HapaxHash::block, salt, t << 16 | (t & 0xffff), 16, 4096) ==
              (salt + (t & 0xffff'ffff'ffff)) * 17 % 4096);
      }
}

void range() {
  for (std::uint32_t slots = 1; slots <= 4096; slots *= 2)
    for (const std::uint32_t salt : salts)
      for (const std::uint64_t start : starts)
        for (std::uint64_t key = start; key < start + 300; ++key) {
          for (const TicketHash hash : ticket_hashes) CHECK(slot_of_ticket(hash, salt, key, slots) < slots);
          for (const HapaxHash hash : hapax_hashes)
            for (const unsigned bits : {0u, 1u, 16u, 63u}) CHECK(slot_of_hapax(hash, salt, key, bits, slots) < slots);
        }
}

template <class Slot>
std::size_t visited(std::uint64_t first, std::uint64_t count, Slot slot) {
  std::set<std::uint32_t> seen;
  for (std::uint64_t key = first; key < first + count; ++key) seen.insert(slot(key));
  return seen.size();
}

void orbits() {
  for (std::uint32_t slots = 1; slots <= 4096; slots *= 8)
    for (const std::uint32_t salt : salts) {
      for (const std::uint64_t start : {std::uint64_t{0}, std::uint64_t{777}, std::uint64_t{0xffff'ff00}}) {
        // The Weyl sequences: any stretch of consecutive tickets visits every slot before it repeats.
        for (const TicketHash hash : {TicketHash::weyl127, TicketHash::weyl17, TicketHash::orbits})
          CHECK(visited(start, slots, [&](auto t) { return slot_of_ticket(hash, salt, t, slots); }) == slots);
        CHECK(visited(start, slots,
                      [&](auto b) { return slot_of_hapax(HapaxHash::block, salt, b << 16, 16, slots); }) == slots);
      }
      // Pairs take two tickets for a slot; Gray codes fill an aligned stretch.
      CHECK(visited(0, 2 * slots, [&](auto t) { return slot_of_ticket(TicketHash::pairs, salt, t, slots); }) == slots);
      CHECK(visited(4096 * 5, slots, [&](auto t) { return slot_of_ticket(TicketHash::gray, salt, t, slots); }) ==
            slots);
      // The other hashes are as good as random: they visit most slots in four rounds.
      CHECK(visited(0, 4 * slots, [&](auto t) { return slot_of_ticket(TicketHash::mixed, salt, t, slots); }) >=
            slots * 0.9);
      CHECK(visited(0, 4 * slots, [&](auto h) { return slot_of_hapax(HapaxHash::mixed, salt, h, 16, slots); }) >=
            slots * 0.9);
      CHECK(visited(0, 4 * slots, [&](auto h) { return slot_of_hapax(HapaxHash::runs, salt, h << 5, 16, slots); }) >=
            slots * 0.9);
    }
}

void neighbours() {
  constexpr std::uint32_t in_a_sector = 128 / 8;
  const auto apart = [](std::uint32_t a, std::uint32_t b) { return a / in_a_sector != b / in_a_sector; };
  // In smaller arrays the strides wrap: 17 below 64 slots, 127 below 256 (127 is -1 modulo 128).
  for (std::uint32_t slots = 64; slots <= 4096; slots *= 2)
    for (const std::uint32_t salt : salts)
      for (std::uint64_t t = 0; t < 5000; ++t) {
        const auto ticket = [&](TicketHash hash, std::uint64_t n) { return slot_of_ticket(hash, salt, n, slots); };
        const auto block = [&](std::uint64_t n) { return slot_of_hapax(HapaxHash::block, salt, n << 16, 16, slots); };
        CHECK(apart(ticket(TicketHash::weyl17, t), ticket(TicketHash::weyl17, t + 1)));
        CHECK(apart(block(t), block(t + 1)));
        if (slots >= 256) CHECK(apart(ticket(TicketHash::weyl127, t), ticket(TicketHash::weyl127, t + 1)));
        if (slots < 2048) continue;
        if ((t + 1) % slots != 0) CHECK(apart(ticket(TicketHash::gray, t), ticket(TicketHash::gray, t + 1)));
        CHECK(apart(ticket(TicketHash::orbits, t), ticket(TicketHash::orbits, t + 1)));
        CHECK(apart(ticket(TicketHash::pairs, t), ticket(TicketHash::pairs, t + 2)));
      }
}

// What each variation promises.
void promises() {
  for (const std::uint32_t salt : salts)
    for (std::uint64_t t = 0; t < 4096; ++t) {
      CHECK(slot_of_ticket(TicketHash::pairs, salt, 2 * t, 4096) ==
            slot_of_ticket(TicketHash::pairs, salt, 2 * t + 1, 4096));
      // 512 consecutive tickets stay within one page of the array.
      CHECK(slot_of_ticket(TicketHash::orbits, salt, t, 4096) / 512 == t / 512);
      // All hapaxes of a block have one slot, and so do those of a run of 32.
      CHECK(slot_of_hapax(HapaxHash::block, salt, (t << 16) + t, 16, 4096) ==
            slot_of_hapax(HapaxHash::block, salt, t << 16, 16, 4096));
      CHECK(slot_of_hapax(HapaxHash::runs, salt, t * 32 + 31, 16, 4096) ==
            slot_of_hapax(HapaxHash::runs, salt, t * 32, 16, 4096));
    }
}

void sizes() {
  for (unsigned cpus = 0; cpus < 600; ++cpus)
    for (std::uint32_t most = 1; most <= 4096; most *= 2) {
      const auto slots = slots_for(cpus, most);
      CHECK(slots >= 1 && slots <= most && (slots & (slots - 1)) == 0);
      CHECK(slots == most || slots >= 64 * std::max(1u, cpus));    // enough for the CPUs, or the maximum
      CHECK(slots <= 256 || slots / 2 < 64 * std::max(1u, cpus));  // and no more than enough
    }
  static_assert(slots_for(1, 4096) == 256 && slots_for(4, 4096) == 256 && slots_for(5, 4096) == 512);
  static_assert(slots_for(64, 4096) == 4096 && slots_for(512, 4096) == 4096 && slots_for(8, 16) == 16);
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  check::step("formulas"), formulas();
  check::step("range"), range();
  check::step("orbits"), orbits();
  check::step("neighbours"), neighbours();
  check::step("promises"), promises();
  check::step("sizes"), sizes();
  return check::result();
}
