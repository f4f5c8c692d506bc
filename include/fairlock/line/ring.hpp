// SPDX-License-Identifier: Apache-2.0
// Ring: waiters' elements in a circle, in which the last element stands before the first. The caller must be the only
// thread that changes the line. An element has `next` and `before`. Both functions return the new first element, or
// null.
#pragma once

namespace fairlock {
inline namespace v0 {

template <class Element>
struct Ring {
  static Element* append(Element* first, Element& element) {
    if (first == nullptr) {
      element.next = &element;
      element.before = &element;
      return &element;
    }
    Element* const last = first->before;
    element.next = first;
    element.before = last;
    last->next = &element;
    first->before = &element;
    return first;
  }

  static Element* remove(Element* first, Element& element) {
    Element* const next = element.next;
    Element* const before = element.before;
    before->next = next;
    next->before = before;
    if (first != &element) return first;
    return next == &element ? nullptr : next;
  }
};

}  // namespace v0
}  // namespace fairlock
