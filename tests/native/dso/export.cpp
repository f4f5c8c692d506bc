#include "library.hpp"

const Library* EXPORTED() { return &this_library(); }
