# SPDX-License-Identifier: Apache-2.0
# How a preloadable object is built. The product (src/preload) and the lab (lab/preload) include this file.

# The locks lie in the memory of glibc's objects, so they need glibc 2.30 or newer.
include(CheckCXXSymbolExists)
check_cxx_symbol_exists(__GLIBC__ features.h FAIRLOCK_GLIBC)
check_cxx_symbol_exists(pthread_mutex_clocklock pthread.h FAIRLOCK_GLIBC_2_30)

# The locks of the catalogue that are `preloadable`. A test compares this list with the catalogue.
set(fairlock_preload_locks fair ticket ticket-backoff twa hapax hapax-vw tas tts tts-backoff lifo)
set(fairlock_preload_source ${CMAKE_CURRENT_LIST_DIR})

# An object that the loader places before glibc: <build>/<folder>/<name>.so, and the same in the package.
function(fairlock_preload_object target package folder name)
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${folder}
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # - no exceptions: glibc unwinds the frames of a cancelled thread, and no handler of ours may get in the way;
  # - the initial-exec model: a thread-local word costs no call, and no malloc at its first use;
  # - no guards of static variables: they are in the C++ library, which a program in C does not load (two threads may
  #   compute the only static variable at once, with the same result);
  # - now: not even the first call of a function enters the dynamic linker, as a call in a signal handler might.
  target_compile_options(${target} PRIVATE -O2 -Wall -Wextra -fno-exceptions -fno-rtti -fasynchronous-unwind-tables
    -ftls-model=initial-exec -fno-threadsafe-statics)
  target_compile_definitions(${target} PRIVATE NDEBUG)
  target_link_options(${target} PRIVATE -Wl,--as-needed -Wl,-z,now -Wl,-z,defs)
  target_link_libraries(${target} PRIVATE fairlock::fairlock ${CMAKE_DL_LIBS})
  install(TARGETS ${target} LIBRARY DESTINATION ${package}/${folder})
endfunction()

# An object with a lock. `choice` is the header that picks the platform and the lock.
function(fairlock_preload_lock lock package folder choice)
  set(target fairlock_${folder}_${lock})
  string(REPLACE "/" "_" target ${target})
  set(exports ${fairlock_preload_source}/exports.map)
  add_library(${target} MODULE ${fairlock_preload_source}/preload.cpp)
  fairlock_preload_object(${target} ${package} ${folder} ${lock})
  target_include_directories(${target} PRIVATE ${fairlock_preload_source})
  target_compile_definitions(${target} PRIVATE
    FAIRLOCK_PRELOAD_LOCK="${lock}" FAIRLOCK_PRELOAD_CHOICE="${choice}" ${ARGN})
  target_link_options(${target} PRIVATE -Wl,--version-script=${exports})
  set_property(TARGET ${target} PROPERTY LINK_DEPENDS ${exports})
endfunction()
