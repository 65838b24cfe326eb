#include "report/json_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void put(json_t *object, const char *key, json_t *value)
{
    if (value)
        json_object_set_new_nocheck(object, key, value);
}

void put_list(json_t *object, const char *key, json_t *list)
{
    if (json_array_size(list))
        put(object, key, list);
    else
        json_decref(list);
}

/* The size of the character that begins here; 0: it is none, and `ret_bad` bytes stand for one
 * U+FFFD: the longest beginning of a character that these bytes are. */
static size_t character(const unsigned char *bytes, size_t size, size_t *ret_bad)
{
    unsigned char low = 0x80, high = 0xBF;
    size_t more;
    *ret_bad = 1;
    if (bytes[0] < 0x80)
        return 1;
    if (bytes[0] < 0xC2 || bytes[0] > 0xF4)
        return 0;
    more = bytes[0] < 0xE0 ? 1 : bytes[0] < 0xF0 ? 2 : 3;
    if (bytes[0] == 0xE0)
        low = 0xA0; /* shorter forms are not allowed */
    else if (bytes[0] == 0xED)
        high = 0x9F; /* surrogates */
    else if (bytes[0] == 0xF0)
        low = 0x90;
    else if (bytes[0] == 0xF4)
        high = 0x8F; /* the last character is U+10FFFF */
    for (size_t i = 1; i <= more; i++) {
        if (i >= size || bytes[i] < low || bytes[i] > high) {
            *ret_bad = i;
            return 0;
        }
        low = 0x80;
        high = 0xBF;
    }
    return more + 1;
}

json_t *words_text(const char *bytes, size_t size)
{
    char *text = malloc(size * 3 + 1);
    size_t used = 0;
    if (!text)
        return NULL;
    for (size_t i = 0, bad; i < size;) {
        size_t length = character((const unsigned char *)bytes + i, size - i, &bad);
        memcpy(text + used, length ? bytes + i : "\xEF\xBF\xBD", length ? length : 3);
        used += length ? length : 3;
        i += length ? length : bad;
    }
    json_t *result = json_stringn_nocheck(text, used);
    free(text);
    return result;
}

json_t *words_string(const char *string)
{
    return string[0] ? words_text(string, strlen(string)) : NULL;
}

json_t *words_number(uint64_t number)
{
    return number <= INT64_MAX ? json_integer((json_int_t)number) : NULL;
}

json_t *words_nonzero(uint64_t number)
{
    return number ? words_number(number) : NULL;
}

json_t *words_address(uint64_t address)
{
    char text[19];
    snprintf(text, sizeof text, "0x%016" PRIx64, address);
    return json_string(text);
}

json_t *words_short_address(uint64_t address)
{
    char text[19];
    snprintf(text, sizeof text, "0x%" PRIx64, address);
    return json_string(text);
}

json_t *words_time(uint64_t ns)
{
    char day[32], text[64];
    struct tm parts;
    time_t seconds = (time_t)(ns / 1000000000);
    if (!ns || !gmtime_r(&seconds, &parts) || !strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts))
        return NULL;
    snprintf(text, sizeof text, "%s.%09" PRIu64 "Z", day, ns % 1000000000);
    return json_string(text);
}

const char *signal_name(int number, char buffer[SIGNAL_NAME_BYTES])
{
    static const char *const names[] = {
        "", "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1", "SIGSEGV",
        "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN",
        "SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
    };
    if (number >= 1 && number <= 31)
        return names[number];
    if (number >= 34 && number <= 64)
        snprintf(buffer, SIGNAL_NAME_BYTES, "SIGRTMIN+%d", number - 34);
    else
        snprintf(buffer, SIGNAL_NAME_BYTES, "signal %d", number);
    return buffer;
}

const char *signal_code_name(int number, int code)
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
