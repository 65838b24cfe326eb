/* The number of the program's calls in the record of the last crash. */
#ifndef RECORD_H
#define RECORD_H

/* Addresses of the scene in the handler's output, or in the longer walk of LaunchGuard's record; 0:
 * no useful record. */
unsigned record_frames(void);

#endif
