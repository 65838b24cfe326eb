/* The core includes the headers of libunwind itself. This target brings the flags of pkg-config and
 * names the system package. */
#include <libunwind-common.h>
