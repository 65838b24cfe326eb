/* Names of C++ types, as std::type_info has them, and of functions, as linkers have them, in the
 * form of the source. */
#ifndef AGENT_CPP_TYPE_H
#define AGENT_CPP_TYPE_H

#include <stdbool.h>
#include <stddef.h>

/* "std::runtime_error" for "St13runtime_error". false: a template, or another type that is no plain
 * class, or `room` is too small. */
bool cpp_type_name(const char *mangled, char *ret_name, size_t room);

/* "game::World::tick" for "_ZNK4game5World4tickEv": without what it takes. false: the name is none
 * of C++, has a template or an operator in it, or `room` is too small. */
bool cpp_type_function(const char *mangled, char *ret_name, size_t room);

#endif
