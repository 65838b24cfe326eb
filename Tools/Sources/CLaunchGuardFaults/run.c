/* Options, start, run. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalogue.h"
#include "threads.h"

volatile int lgf_zero;
struct lgf_options lgf_options = { .app_id = "org.launchguard.faults", .guard = true, .thread = "main", .own_handler = "none", .altstack = "ours", .threads = 1 };
lg_session *lgf_session;
lg_status lgf_start_status;
lg_launch *lgf_launch;

static const char usage[] =
    "Usage: launchguard-faults [options] NAME\n"
    "       launchguard-faults --list [--json]\n"
    "\n"
    "Die in the way called NAME, with LaunchGuard running. The list has the right record for each way.\n"
    "\n"
    "  --list                 one line for each way to die; with --json one array with every expectation\n"
    "  --app-id ID            as this application (default: org.launchguard.faults)\n"
    "  --app-version VERSION  as this version of it (default: that of LaunchGuard)\n"
    "  --state DIR            state directory; by default that of org.launchguard.faults\n"
    "  --no-guard             do not start LaunchGuard: the death as it is without it\n"
    "  --thread KIND          thread that dies: main (default), pthread; in the Swift build also dispatch, task\n"
    "  --threads N            threads that do it at once (default 1)\n"
    "  --idle-threads N       other threads, which wait, sleep, spin, read, block all signals\n"
    "  --depth N              calls between the thread's begin and the fault (default 0)\n"
    "  --own-handler WHEN     none (default), or a handler of the program, installed before or after LaunchGuard\n"
    "  --altstack WHOSE       alternate stack of the thread: ours (default), foreign, absent\n"
    "  --phase PHASE          phase of the launch \"main\": none (default: not begun), launching, finished, task,\n"
    "                         protecting, held, repairing, probation, safe; after earlier runs that lead there:\n"
    "                         reporting, giving-up, trial\n"
    "  --deadline-ms N        deadline of LaunchGuard's handler\n"
    "  --handler-ms N         time for a handler that was installed before LaunchGuard (default: the deadline)\n"
    "  --help, --version\n"
    "\n"
    "Exit status: that of NAME; 2 for a wrong command line; 78 when the launch did not reach PHASE; 77 when NAME\n"
    "cannot run on this machine, with the reason.\n";

static LGF_NORETURN void refuse(const char *what, const char *value)
{
    fprintf(stderr, "launchguard-faults: %s: %s\n", what, value);
    exit(2);
}

static unsigned number(const char *option, const char *text, unsigned most)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno || end == text || *end || value > most || text[0] == '-')
        refuse(option, "not a number in its range");
    return (unsigned)value;
}

static const char *one_of(const char *option, const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(*words, text) == 0)
            return *words;
    refuse(option, text);
}

static const char *parse(int count, char **arguments)
{
    enum { LIST = 256, JSON, APP_ID, APP_VERSION, STATE, NO_GUARD, THREAD, THREADS, IDLE, DEPTH, OWN, ALTSTACK, PHASE, DEADLINE, HANDLER, HELP, VERSION };
    static const struct option options[] = {
        { "list", no_argument, NULL, LIST },           { "json", no_argument, NULL, JSON },
        { "app-id", required_argument, NULL, APP_ID }, { "app-version", required_argument, NULL, APP_VERSION },
        { "state", required_argument, NULL, STATE },   { "no-guard", no_argument, NULL, NO_GUARD },
        { "thread", required_argument, NULL, THREAD }, { "threads", required_argument, NULL, THREADS },
        { "idle-threads", required_argument, NULL, IDLE }, { "depth", required_argument, NULL, DEPTH },
        { "own-handler", required_argument, NULL, OWN },   { "altstack", required_argument, NULL, ALTSTACK },
        { "phase", required_argument, NULL, PHASE },       { "deadline-ms", required_argument, NULL, DEADLINE },
        { "handler-ms", required_argument, NULL, HANDLER },
        { "help", no_argument, NULL, HELP },               { "version", no_argument, NULL, VERSION },
        { NULL, 0, NULL, 0 },
    };
    static const char *const handlers[] = { "none", "before", "after", NULL };
    static const char *const stacks[] = { "ours", "foreign", "absent", NULL };
    bool list = false, json = false;
    int option;
    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1)
        switch (option) {
        case LIST: list = true; break;
        case JSON: json = true; break;
        case APP_ID: lgf_options.app_id = optarg; break;
        case APP_VERSION: lgf_options.app_version = optarg; break;
        case STATE: lgf_options.state = optarg; break;
        case NO_GUARD: lgf_options.guard = false; break;
        case THREAD: lgf_options.thread = optarg; break;
        case THREADS: lgf_options.threads = number("--threads", optarg, 1000); break;
        case IDLE: lgf_options.idle_threads = number("--idle-threads", optarg, 1000); break;
        case DEPTH: lgf_options.depth = number("--depth", optarg, 20000); break;
        case OWN: lgf_options.own_handler = one_of("--own-handler", optarg, handlers); break;
        case ALTSTACK: lgf_options.altstack = one_of("--altstack", optarg, stacks); break;
        case PHASE: lgf_options.phase = one_of("--phase", optarg, lgf_phases); break;
        case DEADLINE: lgf_options.deadline_ms = number("--deadline-ms", optarg, 60000); break;
        case HANDLER: lgf_options.handler_ms = number("--handler-ms", optarg, 60000); break;
        case HELP: fputs(usage, stdout); exit(0);
        case VERSION: printf("launchguard-faults %s\n", lg_version()); exit(0);
        default: exit(2); /* getopt_long() has printed the error */
        }
    if (list) {
        lgf_list(json);
        exit(0);
    }
    if (lgf_options.threads == 0)
        refuse("--threads", "at least 1");
    if (!lgf_has_thread_kind(lgf_options.thread))
        refuse("--thread: this build has no such thread", lgf_options.thread);
    if (optind != count - 1)
        refuse("exactly one name is needed", "--help shows the usage, --list the names");
    return arguments[optind];
}

/* ---- a handler as programs have it ---- */

static void own_handler(int number, siginfo_t *info, void *context)
{
    (void)context;
    char line[] = "own handler: signal 00\n";
    line[20] = (char)('0' + number / 10);
    line[21] = (char)('0' + number % 10);
    (void)!write(STDERR_FILENO, line, sizeof line - 1);
    signal(number, SIG_DFL);
    if (info->si_code <= 0 || number == SIGTRAP) /* the signal would not come back by itself */
        raise(number);
}

static void install_own_handler(void)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };
    struct sigaction action = { .sa_flags = SA_SIGINFO | SA_ONSTACK };
    action.sa_sigaction = own_handler;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
}

/* ---- the run ---- */

static void start(void)
{
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = lgf_options.app_id;
    options.app_version = lgf_options.app_version ? lgf_options.app_version : lg_version();
    options.state_directory = lgf_options.state;
    options.deadline_ms = lgf_options.deadline_ms;
    options.handler_ms = lgf_options.handler_ms ? lgf_options.handler_ms : lgf_options.deadline_ms;
    lgf_start_status = lg_start(&options, &lgf_session);
    if (lgf_start_status != LG_OK)
        fprintf(stderr, "launchguard-faults: %s: %s\n", lg_status_name(lgf_start_status), lg_session_message(lgf_session));
}

int lgf_main(int count, char **arguments)
{
    const char *name = parse(count, arguments);
    const struct lgf_entry *entry = lgf_find(name);
    if (!entry) {
        fprintf(stderr, "launchguard-faults: there is no \"%s\"; ", name);
        lgf_suggest(name);
        return 2;
    }
#if !defined(__x86_64__)
    if (entry->needs & LGF_NEEDS_X86_64)
        lgf_skip("only x86-64 has this fault");
#endif
    if (strcmp(lgf_options.own_handler, "before") == 0)
        install_own_handler();
    if (entry->prepare)
        entry->prepare();
    if (lgf_options.guard)
        start();
    if (strcmp(lgf_options.own_handler, "after") == 0)
        install_own_handler();
    lgf_start_idle_threads(lgf_options.idle_threads);
    lgf_run_at(entry, lgf_options.phase ? lgf_options.phase : entry->phase ? entry->phase : "none");
    return 0;
}
