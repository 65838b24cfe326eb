/* The threads of a scenario, and the choices of which one goes on. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void leave(int stop)
{
    x->stop = stop;
    if (x->self < 0)
        _longjmp(x->out, 1);
    x->self = -1;
    _longjmp(x->scheduler, 1);
}

void orders_wrong(const char *file, int line, const char *what)
{
    const char *name = strrchr(file, '/');
    snprintf(x->wrong, sizeof x->wrong, "%s:%d: %s", name ? name + 1 : file, line, what);
    leave(WRONG);
    abort();
}

void wrong(const char *what, const void *where)
{
    snprintf(x->wrong, sizeof x->wrong, "%s at %p", what, where);
    leave(WRONG);
}

void orders_drop(void)
{
    leave(DROPPED);
    abort();
}

void orders_saw(unsigned outcome)
{
    x->seen |= UINT64_C(1) << outcome;
}

unsigned orders_self(void)
{
    return (unsigned)x->self;
}

unsigned orders_choose(unsigned count)
{
    if (count <= 1)
        return 0;
    if (x->position == x->depth) {
        if (x->depth == DEPTH)
            leave(DROPPED);
        x->trail[x->depth].chosen = 0;
        memset(x->trail[x->depth].of, 0, sizeof x->trail[x->depth].of);
        x->trail[x->depth++].count = count;
    }
    if (x->trail[x->position].count != count) {
        fprintf(stderr, "%s: a run does not repeat\n", x->scenario->name);
        abort();
    }
    return x->trail[x->position++].chosen;
}

void tls_copy(uint8_t *to, const uint8_t *from)
{
    memcpy(to, from, x->tls_size);
}

void pass(void)
{
    struct thread *me = self();
    for (uint32_t i = 0; i < me->stale; i++)
        show(me->shown[i], last_store(me->shown[i]));
    me->stale = 0;
    tls_copy(me->tls, x->tls);
    if (_setjmp(me->here) == 0)
        _longjmp(x->scheduler, 1);
    tls_copy(x->tls, me->tls);
    me->wrote = false;
}

/* Before an access. Only between a store and a later access that depends on other threads may
 * another thread go on: a load can come as late, and a store that no other thread competes with as
 * early, as the choice of stores by loads makes up for. */
void arrive(bool depends)
{
    finish_stores();
    if (++x->steps > STEPS)
        leave(DROPPED);
    struct thread *me = self();
    if (x->self == 0 && x->scenario->handler && !x->handled && orders_choose(2)) {
        x->handled = true;
        note("handler", NULL, 0, 0, 0);
        x->scenario->handler();
        finish_stores();
        note("handler ends", NULL, 0, 0, 0);
    }
    if (me->wrote && depends)
        pass();
}
