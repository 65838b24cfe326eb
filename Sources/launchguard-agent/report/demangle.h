/* Names of C++ and Rust in the form of the source. */
#ifndef AGENT_DEMANGLE_H
#define AGENT_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* "std::vector<int>::at" for a function as linkers have it, without what it takes. false: it is
 * none of these languages, this agent was built without a demangler, or `room` is too small. */
bool demangle_function(const char *mangled, char *ret_name, size_t room);

/* "std::runtime_error" for a type as std::type_info has it. */
bool demangle_type(const char *mangled, char *ret_name, size_t room);

#endif
