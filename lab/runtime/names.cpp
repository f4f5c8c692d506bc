// SPDX-License-Identifier: Apache-2.0
#include "runtime/names.hpp"

#include <algorithm>

namespace fairlock::runtime {

namespace {

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::load: return "load";
    case Kind::store: return "store";
    case Kind::init: return "init";
    case Kind::exchange: return "exchange";
    case Kind::fetch_add: return "fetch_add";
    case Kind::fetch_or: return "fetch_or";
    case Kind::fetch_and: return "fetch_and";
    case Kind::cas: return "cas";
    case Kind::fence: return "fence";
    case Kind::await: return "await";
    case Kind::await_briefly: return "await_briefly";
    case Kind::await_until: return "await_until";
    case Kind::await_exchange: return "await_exchange";
    case Kind::park: return "park";
    case Kind::unpark: return "unpark";
    case Kind::access: return "access";
    case Kind::chance: return "chance";
    case Kind::touch: return "touch";
    case Kind::start: return "start";
  }
  return "?";
}

const char* name_of(std::memory_order order) {
  switch (order) {
    case std::memory_order_acquire: return "acquire";
    case std::memory_order_release: return "release";
    case std::memory_order_acq_rel: return "acq_rel";
    case std::memory_order_seq_cst: return "seq_cst";
    default: return "relaxed";
  }
}

}  // namespace

std::string thread_name(unsigned thread) {
  return thread < 26 ? std::string(1, static_cast<char>('A' + thread)) : "T" + std::to_string(thread);
}

void Names::add_word(const std::string& text, const char* field, const void* address, unsigned width) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (words_.try_emplace(at, Word{field, text, width}).second) addresses_.push_back(at);
}

void Names::add_object(const void* address, std::string text) { add_whole_object(address, 0, std::move(text)); }

void Names::add_whole_object(const void* address, std::size_t size, std::string text) {
  objects_.push_back({reinterpret_cast<std::uintptr_t>(address), size, std::move(text)});
}

const Names::Word* Names::word_at(std::uintptr_t address) const {
  const auto entry = words_.find(address);
  return entry == words_.end() ? nullptr : &entry->second;
}

bool Names::has_object(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return std::any_of(objects_.begin(), objects_.end(), [&](const Object& object) { return object.address == at; });
}

std::string Names::show_value(std::uint64_t value) const {
  if (arena_.contains(value)) {
    for (const auto& object : objects_) {
      const auto at = value - object.address;
      if (object.size == 0 && at < 2) return object.text + (at == 0 ? "" : "'");
      if (at < object.size) return object.text;
    }
    return "?";
  }
  if (block_bits_ >= 8 && value >> block_bits_ != 0 && value >> block_bits_ < 0x10000)
    return std::to_string(value >> block_bits_) + ":" + std::to_string(value & ((std::uint64_t{1} << block_bits_) - 1));
  return std::to_string(value);
}

std::string Names::show(const Operation& op) const {
  switch (op.kind) {
    case Kind::start: return "starts";
    case Kind::access: return "is inside";
    case Kind::chance: return "makes a random choice";
    case Kind::fence: return std::string("fence ") + name_of(op.order);
    default: break;
  }
  const Word* const word = word_at(op.address);
  std::string text = (word ? word->text : "?") + "." + name_of(op.kind) + "(";
  if (op.kind == Kind::park) text += "while " + show_value(op.expected);
  else if (op.kind == Kind::cas) text += show_value(op.expected) + " -> " + show_value(op.operand);
  else if (op.kind != Kind::load && !(is_await(op.kind) && op.kind != Kind::await_exchange))
    text += show_value(op.operand);
  return text + ") " + name_of(op.order);
}

}  // namespace fairlock::runtime
