// SPDX-License-Identifier: Apache-2.0
// Arena: all memory that the threads of an execution share, so that snapshots can copy it.
//
//   shared memory            the domain, the locks, and what else the caller places there
//   a part for each thread   first the thread's own objects (one of each type), then the objects that it created
//   dead words               a bit for each word of the parts. The bit is set once the object there goes out of scope
//                            or is destroyed, or its thread ends
//
// Objects take whole words of eight bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/hash.hpp"

namespace fairlock::runtime {

struct ArenaSizes {
  unsigned threads = 1;
  std::size_t shared = 4096;    // bytes
  std::size_t in_use = shared;  // bytes that snapshots copy, from the start of the shared memory
  std::size_t own = 128;        // bytes for the own objects of each thread
  std::size_t part = 1024;      // bytes for each thread: its own objects and those that it creates
};

class Arena {
 public:
  explicit Arena(const ArenaSizes& sizes);

  void clear();

  unsigned threads() const { return sizes_.threads; }
  std::size_t size() const { return sizes_.shared + sizes_.threads * sizes_.part; }
  std::byte* shared() const { return memory_.get(); }
  std::byte* part(unsigned thread) const { return memory_.get() + sizes_.shared + thread * sizes_.part; }
  bool contains(std::uintptr_t address) const { return address - base() < size(); }
  std::uint32_t offset(std::uintptr_t address) const { return static_cast<std::uint32_t>(address - base()); }

  // --- words: `width` is 4 or 8 bytes ---

  std::uint64_t read(std::uintptr_t address, unsigned width) const {
    std::uint64_t value = 0;
    if (width == 8) std::memcpy(&value, reinterpret_cast<const void*>(address), 8);
    else std::memcpy(&value, reinterpret_cast<const void*>(address), 4);
    return value;
  }
  void write(std::uintptr_t address, unsigned width, std::uint64_t value) {
    const auto old = read(address, width);
    written_hash_ += scramble(address - base(), value) - scramble(address - base(), old);
    std::memcpy(reinterpret_cast<void*>(address), &value, width);
  }

  // --- objects of threads: null if the thread's part has no room ---

  // The offset of a type's own object, which is the same in every thread's part. Empty if the type is new.
  std::optional<std::size_t> offset_of_own(unsigned type) const;
  // Makes room for an object of a new type, in the parts of all threads.
  std::optional<std::size_t> reserve_own(unsigned type, std::size_t size);
  std::size_t own_bytes() const { return own_bytes_; }

  std::byte* create(unsigned thread, std::size_t size);
  std::uint64_t created_bytes(unsigned thread) const { return created_[thread]; }

  // Whether the object at the address went out of scope, was destroyed, or belonged to a thread that has ended.
  bool dead(std::uintptr_t address) const {
    const auto at = address - base() - sizes_.shared;
    if (at >= sizes_.threads * sizes_.part) return false;
    return dead_[at / 512] >> (at / 8 % 64) & 1;
  }
  void mark_dead(const void* object, std::size_t size) { mark(object, size, true); }
  void mark_alive(const void* object, std::size_t size) { mark(object, size, false); }
  void mark_own_dead(unsigned thread) { mark(part(thread), sizes_.own, true); }

  // --- states ---

  // A hash of everything that was written with `write`, and of the dead words. The objects that threads write directly
  // are hashed with the thread (execution.hpp).
  std::uint64_t hash() const {
    std::uint64_t hash = written_hash_;
    for (std::size_t i = 0; i < dead_.size(); ++i)
      if (dead_[i] != 0) hash += scramble(dead_[i], 0x40 + i);
    return hash;
  }
  std::size_t snapshot_size() const;
  std::byte* save(std::byte* to) const;             // returns the end of what it wrote
  const std::byte* restore(const std::byte* from);  // returns the end of what it read

 private:
  struct Free {
    void operator()(std::byte* memory) const { operator delete[](memory, std::align_val_t{4096}); }
  };

  std::uintptr_t base() const { return reinterpret_cast<std::uintptr_t>(memory_.get()); }
  void mark(const void* object, std::size_t size, bool dead);

  ArenaSizes sizes_;
  std::unique_ptr<std::byte[], Free> memory_;
  std::vector<std::pair<unsigned, std::size_t>> own_offsets_;  // of each type, in every part
  std::size_t own_bytes_ = 0;
  // Snapshots copy these members as well as the memory.
  std::uint64_t written_hash_ = 0;
  std::vector<std::uint64_t> created_;  // bytes that each thread created
  std::vector<std::uint64_t> dead_;
};

}  // namespace fairlock::runtime
