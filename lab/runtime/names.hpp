// SPDX-License-Identifier: Apache-2.0
// Names: the names of the words and objects of an arena, which traces, explanations and mutants use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/arena.hpp"
#include "runtime/operation.hpp"

namespace fairlock::runtime {

// A to Z, then T26, T27 and so on.
std::string thread_name(unsigned thread);

class Names {
 public:
  struct Word {
    const char* field = nullptr;  // as the algorithm calls it
    std::string text;             // with the owner of the field and its index
    unsigned width = 8;           // bytes
  };

  // A hapax is shown as the number of its block, and its number in the block, which has 2^`block_bits` hapaxes.
  Names(const Arena& arena, unsigned block_bits) : arena_(arena), block_bits_(block_bits) {}

  // A word keeps its first name.
  void add_word(const std::string& text, const char* field, const void* address, unsigned width);
  // An object that words may point to. Algorithms keep marks in the lowest bit of such pointers.
  void add_object(const void* address, std::string text);
  // The same, but a pointer to any byte of the object counts as a pointer to the object.
  void add_whole_object(const void* address, std::size_t size, std::string text);

  const Word* word_at(std::uintptr_t address) const;  // null if it has no name
  bool has_object(const void* address) const;
  const std::vector<std::uintptr_t>& addresses() const { return addresses_; }  // of the words, in the order of naming

  std::string show_value(std::uint64_t value) const;
  std::string show(const Operation& op) const;

 private:
  struct Object {
    std::uintptr_t address;
    std::size_t size;  // 0: pointers lead only to its first byte, or to the second if they carry a mark
    std::string text;
  };

  const Arena& arena_;
  unsigned block_bits_;
  std::unordered_map<std::uintptr_t, Word> words_;
  std::vector<std::uintptr_t> addresses_;
  std::vector<Object> objects_;
};

// Names the words of an object. The object's `fields` calls this visitor for each of them.
class FieldNamer {
 public:
  FieldNamer(Names& names, std::string owner) : names_(names), owner_(std::move(owner)) {}

  template <class A>
  void operator()(const char* field, const A& atomic) const {
    names_.add_word(with_owner(field), field, &atomic, sizeof atomic);
  }
  template <class A>
  void operator()(const char* field, unsigned index, const A& atomic) const {
    names_.add_word(with_owner(field) + "[" + std::to_string(index) + "]", field, &atomic, sizeof atomic);
  }
  // An object within the object. If `name` is empty, its fields are named like those of its owner.
  template <class T>
  void part(const std::string& name, const T& object) const {
    object.fields(FieldNamer(names_, name.empty() ? owner_ : with_owner(name)));
  }
  template <class T>
  void part(const std::string& name, unsigned index, const T& object) const {
    part(name + "[" + std::to_string(index) + "]", object);
  }

 private:
  std::string with_owner(const std::string& name) const { return owner_.empty() ? name : owner_ + "." + name; }

  Names& names_;
  std::string owner_;
};

template <class T>
void name_fields(Names& names, const T& object, const std::string& owner) {
  object.fields(FieldNamer(names, owner));
}

// A function that names the fields of an object whose type is erased. Null for a type without `fields`.
using Naming = void (*)(Names&, const void* object, const std::string& owner);

template <class T>
constexpr Naming naming_of() {
  if constexpr (requires(const T& object) { object.fields([](auto&&...) {}); })
    return [](Names& names, const void* object, const std::string& owner) {
      name_fields(names, *static_cast<const T*>(object), owner);
    };
  else return nullptr;
}

}  // namespace fairlock::runtime
