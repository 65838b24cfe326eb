/* The digest of a bug key. Its lines are made where the names of functions are: by the tool. */
#include "launchguard/reader.h"

#include "read/reader.h"
#include "store/digest.h"

/* Changes with the rules for the lines. */
static const uint8_t version_2[16] = { 'L', 'G', ' ', 't', 'h', 'e', ' ', 'b', 'u', 'g', ' ', 'k', 'e', 'y', ' ', '2' };

void lg_bug_key_digest(const char *lines, size_t size, char ret_hex[33])
{
    uint8_t digest[16];
    lg__digest_keyed(version_2, lines, size, digest);
    lg__reader_hex(ret_hex, digest, sizeof digest);
}
