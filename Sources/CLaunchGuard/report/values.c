#include "report/values.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/home.h"

void lg__values_number(struct lg__report *report, uint64_t number)
{
    if (number <= INT64_MAX || !report->options->for_sending)
        lg__json_unsigned(&report->json, number);
}

bool lg__values_time_text(uint64_t wall_ns, char ret_text[LG__TIME_BYTES])
{
    char day[32];
    struct tm parts;
    time_t seconds = (time_t)(wall_ns / 1000000000);
    if (!wall_ns || !gmtime_r(&seconds, &parts) || !strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts))
        return false;
    snprintf(ret_text, LG__TIME_BYTES, "%s.%09" PRIu64 "Z", day, wall_ns % 1000000000);
    return true;
}

void lg__values_time(struct lg__report *report, uint64_t wall_ns)
{
    char text[LG__TIME_BYTES];
    if (lg__values_time_text(wall_ns, text))
        lg__json_string(&report->json, text);
}

void lg__values_moment(struct lg__report *report, uint64_t monotonic_ns)
{
    const uint64_t start = report->run.wall_ns, begin = report->run.monotonic_ns;
    bool fits = monotonic_ns >= begin ? monotonic_ns - begin <= UINT64_MAX - start : begin - monotonic_ns <= start;
    if (start && fits)
        lg__values_time(report, start + (monotonic_ns - begin));
}

bool lg__values_hide_home(const struct lg__report *report)
{
    return report->options->for_sending && !report->options->keep_home;
}

static char *plain(struct lg__report *report, const char *bytes, size_t *size, bool begins_late)
{
    char *copy = malloc(*size + 1);
    if (!copy)
        return NULL;
    memcpy(copy, bytes, *size);
    if (report->secrets)
        *size = lg__secrets_text_hide(report->secrets, copy, *size, begins_late);
    if (lg__values_hide_home(report))
        *size = lg__home_hide(copy, *size);
    copy[*size] = 0;
    return copy;
}

static void write_text(struct lg__report *report, const char *bytes, size_t size, bool begins_late)
{
    if (!(report->secrets && report->secrets->key_count) && !lg__values_hide_home(report)) {
        lg__json_text(&report->json, bytes, size);
        return;
    }
    char *copy = plain(report, bytes, &size, begins_late);
    report->json.failed |= !copy;
    if (copy)
        lg__json_text(&report->json, copy, size);
    free(copy);
}

char *lg__values_plain(struct lg__report *report, const char *bytes, size_t *size)
{
    return plain(report, bytes, size, false);
}

void lg__values_text(struct lg__report *report, const char *bytes, size_t size)
{
    write_text(report, bytes, size, false);
}

void lg__values_late_text(struct lg__report *report, const char *bytes, size_t size)
{
    write_text(report, bytes, size, true);
}

/* In `copy`, or in `buffer`; both of PATH_MAX. */
static const char *hidden_path(struct lg__report *report, const char *path, char *copy, char *buffer)
{
    snprintf(copy, PATH_MAX, "%s", path);
    if (report->secrets)
        copy[lg__secrets_text_hide(report->secrets, copy, strlen(copy), false)] = 0;
    return lg__values_hide_home(report) ? lg_path_without_home(copy, buffer, PATH_MAX) : copy;
}

void lg__values_path(struct lg__report *report, const char *path)
{
    char copy[PATH_MAX], buffer[PATH_MAX];
    lg__json_string(&report->json, hidden_path(report, path, copy, buffer));
}

char *lg__values_plain_path(struct lg__report *report, const char *path, size_t *ret_size)
{
    char copy[PATH_MAX], buffer[PATH_MAX];
    const char *hidden = hidden_path(report, path, copy, buffer);
    *ret_size = strlen(hidden);
    return strdup(hidden);
}

void lg__values_name(struct lg__report *report, const struct lg__names *names, uint64_t number)
{
    char text[24];
    const char *name = number < names->count ? names->names[number] : NULL;
    snprintf(text, sizeof text, "%" PRIu64, number);
    lg__json_string(&report->json, name ? name : names->other ? names->other : text);
}

void lg__values_kind(struct lg__report *report, lg_crash_kind kind)
{
    const char *name = lg_crash_kind_name(kind);
    char text[32];
    snprintf(text, sizeof text, "kind %u", (unsigned)kind);
    lg__json_string(&report->json, strcmp(name, "invalid") == 0 ? text : name);
}

const char *lg__values_what(lg_crash_kind kind)
{
    switch (kind) {
#define WHAT(identifier, value, name, what, sentence) \
    case identifier: return what;
        LG_CRASH_TABLE(WHAT)
#undef WHAT
    }
    return "";
}

/* ---- signals ---- */

const char *lg__values_signal_name(int number, char buffer[LG__SIGNAL_NAME_BYTES])
{
    static const char *const names[] = {
        "", "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1", "SIGSEGV",
        "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN",
        "SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
    };
    if (number >= 1 && number <= 31)
        return names[number];
    if (number >= 34 && number <= 64)
        snprintf(buffer, LG__SIGNAL_NAME_BYTES, "SIGRTMIN+%d", number - 34);
    else
        snprintf(buffer, LG__SIGNAL_NAME_BYTES, "signal %d", number);
    return buffer;
}

const char *lg__values_code_name(int number, int code)
{
    static const char *const names[32][9] = {
        [4] = { "ILL_ILLOPC", "ILL_ILLOPN", "ILL_ILLADR", "ILL_ILLTRP", "ILL_PRVOPC", "ILL_PRVREG", "ILL_COPROC", "ILL_BADSTK" },
        [5] = { "TRAP_BRKPT", "TRAP_TRACE", "TRAP_BRANCH", "TRAP_HWBKPT" },
        [7] = { "BUS_ADRALN", "BUS_ADRERR", "BUS_OBJERR", "BUS_MCEERR_AR", "BUS_MCEERR_AO" },
        [8] = { "FPE_INTDIV", "FPE_INTOVF", "FPE_FLTDIV", "FPE_FLTOVF", "FPE_FLTUND", "FPE_FLTRES", "FPE_FLTINV", "FPE_FLTSUB" },
        [11] = { "SEGV_MAPERR", "SEGV_ACCERR", "SEGV_BNDERR", "SEGV_PKUERR", "SEGV_ACCADI", "SEGV_ADIDERR", "SEGV_ADIPERR",
                 "SEGV_MTEAERR", "SEGV_MTESERR" },
        [31] = { "SYS_SECCOMP", "SYS_USER_DISPATCH" },
    };
    switch (code) {
    case 0: return "SI_USER";
    case 0x80: return "SI_KERNEL";
    case -1: return "SI_QUEUE";
    case -2: return "SI_TIMER";
    case -3: return "SI_MESGQ";
    case -4: return "SI_ASYNCIO";
    case -6: return "SI_TKILL";
    default: return number >= 0 && number < 32 && code >= 1 && code <= 9 ? names[number][code - 1] : NULL;
    }
}
