#include "store/server.h"

#include <string.h>

#include "launchguard/delivery.h"
#include "store/crc32c.h"
#include "store/spool.h"

static uint32_t crc_of(const struct lg__server *server)
{
    return lg__crc32c(0, server, offsetof(struct lg__server, crc));
}

bool lg__server_read(int spool, struct lg__server *ret_server)
{
    struct {
        struct lg__server server;
        char end;
    } file;
    const bool is_whole = lg__spool_read(spool, "server", (char *)&file, sizeof file) == (long)sizeof file.server;
    *ret_server = file.server;
    return is_whole && memcmp(ret_server->magic, LG__MAGIC_SERVER, sizeof ret_server->magic) == 0 && crc_of(ret_server) == ret_server->crc &&
           ret_server->pause <= LG_PAUSE_SPENT;
}

void lg__server_seal(struct lg__server *server)
{
    server->crc = crc_of(server);
}
