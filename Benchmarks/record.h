/* How many of the program's calls the last crash left in a record. */
#ifndef RECORD_H
#define RECORD_H

/* Addresses of the scene in the handler's output, or in the longer walk of LaunchGuard's record; 0: it left nothing that helps. */
unsigned record_frames(void);

#endif
