// SPDX-License-Identifier: Apache-2.0
// HapaxSeqlock: a record that writers overwrite without waiting. A reader copies it, and then knows whether the copy is
// whole or torn.
//
//   field      holds                                                  written by
//   writes_    bits 0-15: writes in progress; above: writes begun     each writer, at its start and end
//   first_     the hapax of a write that began                        each writer, before the words
//   words_     the record                                             each writer
//   last_      the hapax of a write that overlapped no other write    its writer, at its end
//
//   A copy is whole if last_, read before the words, equals first_, read after them.
//
// The paper's form (appendix B) has no writes_: every writer stores last_. Two overlapping writers can then leave a
// mixture of their words under equal hapaxes: both begin, each overwrites some of the other's words, and the writer
// that began last also ends last. Here, a writer that overlaps with another does not store last_. The record then reads
// as torn until a write overlaps with no other. Writers still never wait.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include <fairlock/detail/hapax_supply.hpp>

namespace fairlock {
inline namespace v0 {

template <Platform P, class T>
  requires std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>
class HapaxSeqlock {
 public:
  // False: the write overlapped with another, and the record reads as torn.
  bool write(const T& record) {
    Words words{};
    std::memcpy(words.data(), &record, sizeof(T));
    const auto at_start = writes_.fetch_add(begun + under_way, order::acquire);
    const auto own_hapax = Hapaxes<P>::next();
    first_.exchange(own_hapax, order::acq_rel);
    P::fence(order::release);  // a thread that sees one of our words also sees first_
    for (std::size_t i = 0; i < count; ++i) words_[i].store(words[i], order::relaxed);
    // An RMW, not a load: every writer that begins after this RMW sees our first_, so its own first_ comes later. Our
    // write is still in progress while we publish, so the later writer overlaps with us and does not publish. Nor can
    // it publish before us.
    const auto now = writes_.fetch_add(0, order::acq_rel);
    const bool alone = at_start % begun == 0 && now / begun == at_start / begun + 1;
    if (alone) last_.store(own_hapax, order::release);
    writes_.fetch_add(-under_way, order::release);
    return alone;
  }

  // A copy of the record, or nothing if the copy is torn. A record that was never written reads as zero.
  std::optional<T> read() const {
    const auto last = last_.load(order::acquire);
    Words words;
    for (std::size_t i = 0; i < count; ++i) words[i] = words_[i].load(order::relaxed);
    P::fence(order::acquire);
    if (first_.load(order::relaxed) != last) return std::nullopt;
    T record;
    std::memcpy(&record, words.data(), sizeof(T));
    return record;
  }

  template <class V>
  void fields(V&& visit) const {
    visit("writes", writes_);
    visit("first", first_);
    for (unsigned i = 0; i < count; ++i) visit("word", i, words_[i]);
    visit("last", last_);
  }

 private:
  static constexpr std::uint64_t under_way = 1, begun = 1 << 16;
  static constexpr std::size_t count = (sizeof(T) + 7) / 8;
  using Words = std::array<std::uint64_t, count>;
  using Word = typename P::template atomic<std::uint64_t>;

  Word writes_;
  Word first_;
  Word words_[count];
  Word last_;
};

}  // namespace v0
}  // namespace fairlock
