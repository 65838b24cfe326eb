/* A parent for the tests of `launchguard run`, and its children, which end in the given ways:
 *
 *   family [now] WAY …
 *
 * A line for each child: its process. With `now` the children end at once, else when a line comes
 * on standard input. The parent waits for all but those that stay, in the order of their begin: a
 * line for each with its process and wait status, then "done". Another line ends those that stay.
 *
 *   group N, thread N     the system calls that end all threads, or one, with a status
 *   signal N, fault       by the default action; a write to nowhere
 *   exec                  goes on as a shell that SIGKILL ends
 *   exit N, stay N        leaves exit()
 *   other-WAY, gone-WAY   another thread does it; the first one is gone by then */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 1000

static int go[2], end[2];
static const char *way;

static void wait_for(const int channel[2])
{
    char none;
    while (read(channel[0], &none, 1) > 0)
        ;
}

/* A number after the way's name. */
static int number(void)
{
    return atoi(way + strcspn(way, "0123456789"));
}

static int is(const char *name)
{
    return strncmp(way, name, strlen(name)) == 0;
}

/* By an instruction of its own, which no library sees. */
static void call_system(long call, long status)
{
#if defined(__x86_64__)
    __asm__ volatile("syscall" : : "a"(call), "D"(status) : "rcx", "r11", "memory");
#else
    register long number __asm__("x8") = call, argument __asm__("x0") = status;
    __asm__ volatile("svc #0" : : "r"(number), "r"(argument) : "memory");
#endif
}

static void die(void)
{
    if (is("group"))
        call_system(SYS_exit_group, number());
    if (is("thread"))
        call_system(SYS_exit, number());
    if (is("signal"))
        kill(getpid(), number());
    if (is("exec"))
        execl("/bin/sh", "sh", "-c", "kill -KILL $$", (char *)NULL);
    if (is("fault"))
        *(volatile int *)(uintptr_t)number() = 0;
    exit(number());
}

/* With the first thread to wait for, or NULL. */
static void *other_thread(void *leaving)
{
    if (leaving)
        pthread_join(*(pthread_t *)leaving, NULL);
    wait_for(go);
    die();
    return NULL;
}

static void live(void)
{
    static pthread_t first;
    pthread_t thread;
    first = pthread_self();
    close(go[1]);
    close(end[1]);
    if (is("stay"))
        wait_for(end);
    /* The first thread is gone when the process ends, or waits for the other one. */
    const int is_gone = is("gone-");
    if (is_gone || is("other-")) {
        way = strchr(way, '-') + 1;
        pthread_create(&thread, NULL, other_thread, is_gone ? &first : NULL);
        if (is_gone)
            pthread_exit(NULL);
        pthread_join(thread, NULL);
    }
    wait_for(go);
    die();
}

int main(int count, char **arguments)
{
    static pid_t children[MOST];
    char line[16];
    const int is_now = count > 1 && strcmp(arguments[1], "now") == 0, first = is_now ? 2 : 1;
    if (count > MOST || pipe(go) != 0 || pipe(end) != 0)
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0); /* no child has what the parent says */
    if (is_now)
        close(go[1]);
    for (int i = first; i < count; i++) {
        way = arguments[i];
        children[i] = fork();
        if (children[i] == 0)
            live();
        printf("%d\n", (int)children[i]);
    }
    if (!is_now && fgets(line, sizeof line, stdin))
        close(go[1]);
    for (int i = first, status; i < count; i++)
        if (strncmp(arguments[i], "stay", 4) != 0 && waitpid(children[i], &status, 0) == children[i])
            printf("%d %d\n", (int)children[i], status);
    printf("done\n");
    if (fgets(line, sizeof line, stdin))
        close(end[1]);
    while (wait(NULL) > 0)
        ;
    return 0;
}
