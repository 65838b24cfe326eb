/* Ways in which a stack can look when its program crashes; the second argument names one. */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <launchguard/launchguard.h>

#define NOINLINE __attribute__((noinline, noclone))

volatile int sink;
int *volatile nowhere;
void (*volatile no_function)(void);

void shape_throw(void);
int asm_no_frame(int (*next)(int));
int asm_bare_leaf(int *where);
int asm_expression(int (*next)(int));

NOINLINE int crash(int n)
{
    *nowhere = n; /* a leaf without a frame, where the compiler is asked for that */
    return n + sink;
}

NOINLINE int inner(int n)
{
    int r = crash(n + 1);
    sink += r;
    return r + sink;
}

NOINLINE int middle(int n)
{
    int r = inner(n + sink) * 3;
    sink += r;
    return r - sink;
}

NOINLINE int plain(int n)
{
    int r = middle(n) + 1;
    sink += r;
    return r;
}

NOINLINE int tail_last(int n)
{
    return middle(n) + 1;
}

NOINLINE int tail(int n)
{
    sink++;
    return tail_last(n + sink); /* a jump, where the compiler optimizes */
}

/* Calls each of the two, and so could look like either. */
NOINLINE int tailed(int n)
{
    int r = sink ? tail_last(n) : tail(n);
    return r + sink;
}

NOINLINE int large(int n)
{
    volatile char room[6000];
    room[n] = 1;
    int r = middle(room[n]);
    return r + room[n + 1];
}

NOINLINE int grown(int n)
{
    char *room = alloca((size_t)n * 64 + (size_t)sink);
    memset(room, n, 64);
    int r = middle(room[1]);
    return r + room[2];
}

NOINLINE int recursive(int n)
{
    int r = n ? recursive(n - 1) : middle(n);
    sink += r;
    return r + n;
}

static int compare(const void *a, const void *b)
{
    return middle(*(const int *)a - *(const int *)b) + sink;
}

NOINLINE int sorted(int n)
{
    int values[] = { 3, n, 2, 1 };
    qsort(values, 4, sizeof values[0], compare);
    return values[0] + sink;
}

NOINLINE int call_null(int n)
{
    no_function();
    return n + sink;
}

__attribute__((noreturn, noinline)) void give_up(int n)
{
    sink = n;
    abort(); /* the call is the last instruction */
}

NOINLINE int ends_in_a_call(int n)
{
    sink += n;
    give_up(n + 1);
}

static void on_signal(int number)
{
    sink = middle(number) + 1;
}

NOINLINE int interrupted(int n)
{
    int r = raise(SIGUSR1);
    return n + r + sink;
}

NOINLINE int in_handler(int n)
{
    static char memory[65536];
    stack_t stack = { .ss_sp = memory, .ss_size = sizeof memory };
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    int r = interrupted(n) + 1;
    return r + sink;
}

/* The interrupted instruction is the first of its function: the byte before it is in another. */
static void on_trap(int number)
{
    sink = middle(number) + 1;
}

__attribute__((naked, noinline)) static void first_instruction(void)
{
#ifdef __x86_64__
    __asm__("ud2; ret");
#else
    __asm__("udf #0; ret");
#endif
}

NOINLINE int at_first_instruction(int n)
{
    struct sigaction action = { .sa_handler = on_trap };
    sigaction(SIGILL, &action, NULL);
    first_instruction();
    return n + sink;
}

static void *work(void *argument)
{
    sink = middle(*(int *)argument) + 1;
    return NULL;
}

NOINLINE int threaded(int n)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, &n);
    pthread_join(thread, NULL);
    return n + sink;
}

NOINLINE int no_frame(int n)
{
    int r = asm_no_frame(middle) + n;
    sink += r;
    return r;
}

NOINLINE int bare_leaf(int n)
{
    int r = asm_bare_leaf(nowhere) + n;
    sink += r;
    return r;
}

NOINLINE int expression(int n)
{
    int r = asm_expression(middle) + n;
    sink += r;
    return r;
}

NOINLINE int thrown(int n)
{
    shape_throw();
    return n + sink;
}

static const struct shape {
    const char *name;
    int (*run)(int n);
} shapes[] = {
    { "plain", plain }, { "tail", tail }, { "tailed", tailed }, { "large", large }, { "grown", grown }, { "recursive", recursive }, { "sorted", sorted },
    { "call_null", call_null }, { "noreturn", ends_in_a_call }, { "handler", in_handler }, { "first_instruction", at_first_instruction },
    { "thread", threaded }, { "no_frame", no_frame }, { "bare_leaf", bare_leaf }, { "expression", expression }, { "throw", thrown },
};

int main(int count, char **arguments)
{
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.shapes";
    options.state_directory = arguments[1];
    lg_session *session;
    if (count != 3 || lg_start(&options, &session) != LG_OK)
        return 2;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (strcmp(arguments[2], shapes[i].name) == 0)
            sink = shapes[i].run(4) + 1;
    return 3;
}
