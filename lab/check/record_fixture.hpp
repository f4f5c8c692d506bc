// SPDX-License-Identifier: Apache-2.0
// RecordFixture: the scenario of the seqlock. Its record is two words, and every writer sets both to the same value.
#pragma once

#include <cstdint>
#include <new>
#include <string>

#include <fairlock/hapax_seqlock.hpp>

#include "check/checked.hpp"
#include "check/domain_state.hpp"

namespace fairlock::check {

struct RecordFixture {
  struct Record {
    std::uint64_t left, right;
  };
  HapaxSeqlock<Checked, Record> record;
  CheckedMemory::tally<std::uint64_t> meetings;  // writes that report an overlap with another write

  static void construct(void* memory) {
    new (memory) RecordFixture;
    supply_domain();
  }
  static void name_words(const void* memory, Names& names) {
    name_fields(names, static_cast<const RecordFixture*>(memory)->record, "");
    name_fields(names, CheckedMemory::domain(), "");
  }

  static void body(void* memory, unsigned thread, unsigned episodes) {
    supply_thread(thread);
    auto& self = *static_cast<RecordFixture*>(memory);
    auto& world = World::current();
    for (unsigned e = 0; e < episodes; ++e) {
      world.acquiring(0);  // the phase that mutations name
      if (thread + 1 < world.threads()) {
        const std::uint64_t value = thread * 100 + e + 1;
        if (!self.record.write({value, value})) self.meetings = self.meetings + 1;
      } else if (const auto copy = self.record.read(); copy && copy->left != copy->right) {
        world.stop(Property::torn, "the mixed record " + std::to_string(copy->left) + " and " +
                                       std::to_string(copy->right) + " was accepted");
      }
    }
  }

  // If no two writes overlapped, the record must be readable.
  static bool unreadable(const void* memory) {
    const auto& self = *static_cast<const RecordFixture*>(memory);
    return self.meetings == 0 && !self.record.read();
  }

  static Program program() {
    Program p;
    p.locked = &unreadable;
    p.construct = &construct;
    p.name_fields = &name_words;
    p.body = &body;
    p.fixture_size = sizeof(RecordFixture);
    p.lock_size = sizeof(RecordFixture);
    return p;
  }
};

}  // namespace fairlock::check
