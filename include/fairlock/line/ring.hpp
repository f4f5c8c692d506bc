// SPDX-License-Identifier: Apache-2.0
// Ring: waiters' elements in a circle, in which the last element stands before the first. The caller must be the only
// thread that changes the line. An element has `next` and `before`. Both functions return the new first element, or
// null.
#pragma once

namespace fairlock {
inline namespace v0 {

template <class Element>
struct Ring {
  static Element* append(Element* first, Element& mine) {
    if (first == nullptr) {
      mine.next = &mine;
      mine.before = &mine;
      return &mine;
    }
    Element* const last = first->before;
    mine.next = first;
    mine.before = last;
    last->next = &mine;
    first->before = &mine;
    return first;
  }

  static Element* remove(Element* first, Element& mine) {
    Element* const next = mine.next;
    Element* const before = mine.before;
    before->next = next;
    next->before = before;
    if (first != &mine) return first;
    return next == &mine ? nullptr : next;
  }
};

}  // namespace v0
}  // namespace fairlock
