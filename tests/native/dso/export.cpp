// SPDX-License-Identifier: Apache-2.0
#include "library.hpp"

const Library* EXPORTED() { return &this_library(); }
