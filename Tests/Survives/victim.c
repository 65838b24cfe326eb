/* A program that leaves one of everything, and then ends in a given way.
 *
 *   survives-victim STATE WAY    a launch is under way, another thread waits; "ready" on standard
 *                                output where somebody else is to end it
 *   survives-victim STATE next   the next start: prints the streak, and the unexplained ends */
#include <launchguard/launchguard.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static lg_session *session;
static const char *state;

static void wait_for_ever(void) {
    printf("ready\n");
    for (;;) pause();
}

static void fault(void) {
    *(volatile int *)8 = 1;
}

static int overflow(int depth) {
    volatile char frame[4096];
    frame[0] = (char)depth;
    return overflow(depth + 1) + frame[0];
}

static void overflow_stack(void) {
    exit(overflow(0));
}

static void corrupt_heap(void) {
    char *volatile block = malloc(100);
    memset(block, 0x55, 200); /* Over what malloc() keeps of the rest. */
    free(malloc(5000));
}

static void kill_itself(void) {
    raise(SIGKILL);
}

static void hang(void) {
    lg_heartbeat(session);
    wait_for_ever();
}

static void overrun(void) {
    uint64_t deadline;
    lg_deadline_begin(session, "upload", 1000, &deadline);
    wait_for_ever();
}

static void execute(void) {
    execl("/bin/true", "true", (char *)NULL);
}

/* The parent lives through the crash of its child, and ends well. */
static void crash_in_child(void) {
    pid_t child = fork();
    if (child == 0) fault();
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status)) _exit(1);
    exit(0);
}

static void leave(void) {
    _exit(3);
}

static void leave_by_exit(void) {
    exit(3);
}

static void ignore(int number) {
    (void)number;
}

/* As a program whose clean-up never ends. */
static void end_slowly(void) {
    wait_for_ever();
}

static void crash_without_file(void) {
    char name[4096];
    snprintf(name, sizeof name, "%s", lg_session_run_path(session));
    if (truncate(name, 0) != 0) _exit(1);
    fault();
}

/* The lock of the program's handler, which was installed before LaunchGuard: the thread that
 * crashes holds it already. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void deadlock(int number) {
    (void)number;
    pthread_mutex_lock(&lock);
}

static void crash_with_lock(void) {
    printf("ready\n");
    pthread_mutex_lock(&lock);
    fault();
}

static const struct way {
    const char *name;
    void (*end)(void);
    int signal; /* that the program handles itself */
    void (*handler)(int);
} ways[] = {
    { "fault", fault, 0, NULL },
    { "abort", abort, 0, NULL },
    { "overflow", overflow_stack, 0, NULL },
    { "heap", corrupt_heap, 0, NULL },
    { "handler", crash_with_lock, SIGSEGV, deadlock },
    { "patient", crash_with_lock, SIGSEGV, deadlock },
    { "kill", kill_itself, 0, NULL },
    { "wait", wait_for_ever, 0, NULL },
    { "slow", end_slowly, SIGTERM, ignore },
    { "hang", hang, 0, NULL },
    { "deadline", overrun, 0, NULL },
    { "execute", execute, 0, NULL },
    { "child", crash_in_child, 0, NULL },
    { "leave", leave, 0, NULL },
    { "exit", leave_by_exit, 0, NULL },
    { "cut", crash_without_file, 0, NULL },
};

static void *other_thread(void *unused) {
    pthread_setname_np(pthread_self(), "other");
    for (;;) pause();
    return unused;
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    state = arguments[1];
    const struct way *way = NULL;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (strcmp(ways[i].name, arguments[2]) == 0) way = &ways[i];
    if (way && way->handler) signal(way->signal, way->handler);
    if (strcmp(arguments[2], "early") == 0) fault();

    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.survives";
    options.state_directory = state;
    options.hang_launching_ms = 500;
    options.handler_ms = strcmp(arguments[2], "patient") == 0 ? 600000 : 1000;
    lg_start(&options, &session);
    lg_launch_options launch_options = LG_LAUNCH_OPTIONS_INIT;
    launch_options.finish = LG_FINISH_MARK;
    lg_launch *launch;
    lg_launch_prepare(session, "main", &launch_options, &launch);
    if (!way) {
        lg_launch_info info = LG_LAUNCH_INFO_INIT;
        lg_launch_get_info(launch, &info);
        printf("%s %u %u\n", lg_session_protection(session) == LG_PROTECTION_FULL ? "full" : "less", info.streak, info.unknown);
        return strcmp(arguments[2], "next") == 0 ? 0 : 2;
    }
    lg_launch_begin(launch);
    pthread_t thread;
    if (pthread_create(&thread, NULL, other_thread, NULL) != 0) return 1;
    lg_annotate(session, "screen", "map");
    lg_log(session, LG_LEVEL_INFO, "the last breadcrumb");
    way->end();
    return 0;
}
