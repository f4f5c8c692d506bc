// SPDX-License-Identifier: Apache-2.0
#include "runtime/arena.hpp"

#include <algorithm>
#include <stdexcept>

namespace fairlock::runtime {

namespace {

constexpr std::size_t whole_words(std::size_t size) { return (size + 7) / 8 * 8; }

}  // namespace

Arena::Arena(const ArenaSizes& sizes)
    : sizes_(sizes),
      memory_(new (std::align_val_t{4096}) std::byte[sizes.shared + sizes.threads * sizes.part]),
      created_(sizes.threads),
      dead_(sizes.threads * sizes.part / 512) {
  // The bits of a part fill whole words of `dead_`.
  if (sizes.part % 512 != 0 || sizes.own % 8 != 0 || sizes.own > sizes.part || sizes.in_use > sizes.shared)
    throw std::invalid_argument("Arena: these sizes do not fit together");
  clear();
}

void Arena::clear() {
  std::memset(memory_.get(), 0, size());
  written_hash_ = 0;
  std::fill(created_.begin(), created_.end(), 0);
  std::fill(dead_.begin(), dead_.end(), 0);
}

std::optional<std::size_t> Arena::offset_of_own(unsigned type) const {
  for (const auto& [known, offset] : own_offsets_)
    if (known == type) return offset;
  return std::nullopt;
}

std::optional<std::size_t> Arena::reserve_own(unsigned type, std::size_t size) {
  const auto offset = own_bytes_;
  if (offset + whole_words(size) > sizes_.own) return std::nullopt;
  own_bytes_ += whole_words(size);
  own_offsets_.emplace_back(type, offset);
  return offset;
}

std::byte* Arena::create(unsigned thread, std::size_t size) {
  auto& created = created_[thread];
  if (sizes_.own + created + whole_words(size) > sizes_.part) return nullptr;
  std::byte* const object = part(thread) + sizes_.own + created;
  created += whole_words(size);
  return object;
}

void Arena::mark(const void* object, std::size_t size, bool dead) {
  const auto first = (reinterpret_cast<std::uintptr_t>(object) - base() - sizes_.shared) / 8;
  for (auto word = first; word < first + whole_words(size) / 8; ++word) {
    const auto bit = std::uint64_t{1} << word % 64;
    dead_[word / 64] = dead ? dead_[word / 64] | bit : dead_[word / 64] & ~bit;
  }
}

std::size_t Arena::snapshot_size() const {
  std::size_t size = sizeof written_hash_ + (created_.size() + dead_.size()) * 8 + sizes_.in_use;
  for (unsigned t = 0; t < sizes_.threads; ++t) size += sizes_.own + created_[t];
  return size;
}

std::byte* Arena::save(std::byte* to) const {
  const auto copy = [&](const void* from, std::size_t size) {
    std::memcpy(to, from, size);
    to += size;
  };
  copy(&written_hash_, sizeof written_hash_);
  copy(created_.data(), created_.size() * 8);
  copy(dead_.data(), dead_.size() * 8);
  copy(memory_.get(), sizes_.in_use);
  for (unsigned t = 0; t < sizes_.threads; ++t) copy(part(t), sizes_.own + created_[t]);
  return to;
}

const std::byte* Arena::restore(const std::byte* from) {
  const auto copy = [&](void* to, std::size_t size) {
    std::memcpy(to, from, size);
    from += size;
  };
  copy(&written_hash_, sizeof written_hash_);
  const std::byte* const created = from;
  from += created_.size() * 8;
  copy(dead_.data(), dead_.size() * 8);
  copy(memory_.get(), sizes_.in_use);
  for (unsigned t = 0; t < sizes_.threads; ++t) {
    const auto later = created_[t];
    std::memcpy(&created_[t], created + t * 8, 8);
    copy(part(t), sizes_.own + created_[t]);  // even if the thread has not run: others may have written here
    // Clear the objects that were created after the snapshot, so that the thread creates them with the same contents.
    if (later > created_[t]) std::memset(part(t) + sizes_.own + created_[t], 0, later - created_[t]);
  }
  return from;
}

}  // namespace fairlock::runtime
