/* What a filter of system calls does with calls of which the arguments are not known. */
#ifndef LG_PRELOAD_FILTER_RULES_H
#define LG_PRELOAD_FILTER_RULES_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the filter, a struct sock_fprog that the kernel is about to take, lets each of these
 * calls pass, whatever their arguments are. false also where the filter cannot be read. */
bool lg__filter_rules_allow(const void *filter, const long *calls, size_t count);

#endif
