#include "send/server_file.h"

#include <string.h>
#include <time.h>

#include "os/os.h"
#include "store/server.h"
#include "store/spool.h"

/* Of this process. */
static const uint8_t *boot_id(void)
{
    static uint8_t id[16];
    static bool asked;
    if (!asked)
        lg__os_boot_id(id);
    asked = true;
    return id;
}

static void set_clock(struct lg__server *server)
{
    const uint64_t steady_ns = lg__os_clock_ns(CLOCK_MONOTONIC);
    server->on_ns = moment_on(server, boot_id(), steady_ns);
    server->steady_ns = steady_ns;
    memcpy(server->boot, boot_id(), sizeof server->boot);
}

struct moment server_file_now(const struct lg__server *server)
{
    return (struct moment){ lg__os_clock_ns(CLOCK_REALTIME), moment_on(server, boot_id(), lg__os_clock_ns(CLOCK_MONOTONIC)) };
}

bool server_file_read(int spool, struct lg__server *ret_server)
{
    if (!lg__server_read(spool, ret_server)) {
        *ret_server = (struct lg__server){ 0 };
        memcpy(ret_server->magic, LG__MAGIC_SERVER, sizeof ret_server->magic);
    }
    const bool is_new = memcmp(ret_server->boot, boot_id(), sizeof ret_server->boot) != 0;
    set_clock(ret_server);
    return is_new;
}

void server_file_write(int spool, struct lg__server *server)
{
    set_clock(server);
    lg__server_seal(server);
    lg__spool_write(spool, "server", server, sizeof *server, false);
}
