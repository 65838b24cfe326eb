/* A session for a test of one of its files, and what that file calls beside the words under test.
 * Included once. */
#ifndef SESSION_STAND_INS_H
#define SESSION_STAND_INS_H

#include "capture/capture.h"
#include "orders.h"
#include "session/session.h"
#include "stand_ins.h"

static lg_session session;
static struct lg__state state;
static struct lg__pulse pulse;

static void make_session(void)
{
    session.host.run.state = &state;
    session.host.run.pulse = &pulse;
    session.hang_launching_ms = session.hang_running_ms = 100;
    /* names are for people, and checked by whoever reads them */
    orders_declare(&pulse, sizeof pulse, ORDERS_RACY);
}

void lg__host_log(const struct lg__host *host, lg_level level, const char *format, ...)
{
    (void)host;
    (void)level;
    (void)format;
}

void lg__host_hand_over(const struct lg__host *host)
{
    (void)host;
}

bool lg__host_unforked(const struct lg__host *host)
{
    (void)host;
    return true;
}

void lg__wake_at(struct lg__host *host, uint64_t at_ns)
{
    (void)host;
    (void)at_ns;
}

void lg__snapshot_take(const struct lg__snapshot_wish *wish)
{
    (void)wish;
}

void lg__snapshot_resolve(uint32_t kind, uint64_t since_ns)
{
    (void)kind;
    (void)since_ns;
}

void lg__capture_called(void)
{
}

void lg__capture_check(bool thread_too)
{
    (void)thread_too;
}

bool lg__capture_traced(void)
{
    return false;
}

bool lg__capture_thread_gone(int32_t tid)
{
    (void)tid;
    return false;
}

void lg__log_thread_want(struct lg_session *of)
{
    (void)of;
}

lg_status lg__session_check(const struct lg_session *of)
{
    (void)of;
    return LG_OK;
}

bool lg__session_launching(const struct lg_session *of)
{
    (void)of;
    return false;
}

void lg__os_thread_name(char name[16])
{
    (void)name;
}

#endif
