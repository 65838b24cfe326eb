/* The core includes libunwind's headers itself; this target brings pkg-config's flags and names the system package. */
#include <libunwind-common.h>
