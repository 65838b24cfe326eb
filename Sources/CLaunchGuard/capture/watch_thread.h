/* The watch thread: made when there is something to watch, gone when there is nothing. The thread
 * is one of the kernel that libc does not know. Handler. */
#ifndef LG_CAPTURE_WATCH_THREAD_H
#define LG_CAPTURE_WATCH_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/* Reserve the memory of the thread. On an ordinary thread. */
bool lg__watch_thread_prepare(void);
/* In a forked child: there is none. */
void lg__watch_thread_forget(void);
/* The latest watch thread has this number. */
bool lg__watch_thread_is(int32_t tid);

#endif
