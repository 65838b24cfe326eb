/* What a program said on standard error before it ended by itself, where the runtime that said it
 * left no other trace: an exception of an interpreter, a panic, a failed check. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/reader.h"

/* Lines of another kind that may follow the words: a line more, and the program went on. */
#define OTHER_LINES_MAX 3u

struct line {
    const char *text; /* NUL-terminated */
    size_t size;
};

struct words {
    const struct line *lines;
    uint32_t count, at;
    uint32_t taken; /* lines, from `at` on */
    char *text;
    size_t room;
};

static bool starts(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

/* The text after a mark; NULL: it is not there. */
static const char *after(const char *text, const char *mark)
{
    const char *found = strstr(text, mark);
    return found ? found + strlen(mark) : NULL;
}

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

static const char *next_line(const struct words *words, uint32_t distance)
{
    return words->at + distance < words->count ? words->lines[words->at + distance].text : "";
}

static bool say(struct words *words, uint32_t taken, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool say(struct words *words, uint32_t taken, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words->text, words->room, format, arguments);
    va_end(arguments);
    words->taken = taken;
    return true;
}

/* ---- what each runtime says: the line `text`, and those after it ---- */

static bool python(struct words *words, const char *text)
{
    uint32_t more = 1;
    if (starts(text, "Fatal Python error: "))
        return say(words, 1, "%s", text);
    if (!strstr(text, "Traceback (most recent call last):") && !starts(text, "  File \""))
        return false;
    while (words->at + more < words->count && (next_line(words, more)[0] == ' ' || !next_line(words, more)[0]))
        more++;
    return next_line(words, more)[0] && say(words, more + 1, "%s", next_line(words, more));
}

/* "thread 'main' panicked at src/main.rs:2:5:" and the text in the next line; until 1.72 "thread
 * 'main' panicked at 'text', src/main.rs:2:5". */
static bool rust(struct words *words, const char *text)
{
    const char *place = starts(text, "thread '") ? after(text, "panicked at ") : NULL, *end;
    if (!place)
        return false;
    if (place[0] != '\'')
        return say(words, 2, "panic: %s (%.*s)", next_line(words, 1), (int)(strlen(place) - (strlen(place) ? 1 : 0)), place);
    end = strstr(place, "', ");
    return say(words, 1, "panic: %.*s (%s)", end ? (int)(end - place) - 1 : 0, place + 1, end ? end + 3 : "");
}

static bool java(struct words *words, const char *text)
{
    const char *what = starts(text, "Exception in thread \"") ? after(text, "\" ") : NULL;
    uint32_t more = 1;
    if (!what)
        return false;
    say(words, 1, "%s", what);
    for (; starts(next_line(words, more), "\tat ") || starts(next_line(words, more), "\t... ") || starts(next_line(words, more), "Caused by: "); more++)
        if (next_line(words, more)[0] == 'C' && strlen(words->text) < words->room / 2)
            snprintf(words->text + strlen(words->text), words->room - strlen(words->text), ", caused by %s", next_line(words, more) + strlen("Caused by: "));
    words->taken = more;
    return true;
}

static bool javascript(struct words *words, const char *text)
{
    if (starts(text, "FATAL ERROR: "))
        return say(words, 1, "%s", text);
    if (starts(text, "# Fatal error in"))
        return say(words, 2, "%s", next_line(words, 1)[0] == '#' ? next_line(words, 1) + 1 + (next_line(words, 1)[1] == ' ') : text);
    const char *of_net = after(text, "Unhandled exception. ");
    if (of_net)
        return say(words, 1, "%s", of_net);
    return text[0] && text[0] != ' ' && text[0] != '\t' && starts(next_line(words, 1), "    at ") && say(words, 2, "%s", text);
}

/* glog and abseil: "F1128 00:12:33.123456 4711 file.cc:12] Check failed: x == y" */
static bool google(struct words *words, const char *text)
{
    const char *end = text[0] == 'F' && is_digit(text[1]) && is_digit(text[4]) ? strstr(text, "] ") : NULL, *place = end;
    while (place && place > text && place[-1] != ' ')
        place--;
    return end && memchr(place, ':', (size_t)(end - place)) && say(words, 1, "%s (%.*s)", end + 2, (int)(end - place), place);
}

/* assert() and libstdc++: "file:12: function: Assertion 'x' failed." */
static bool assertion(struct words *words, const char *text)
{
    const char *what = after(text, ": Assertion "), *end = what ? strstr(what, "' failed") : NULL;
    return end && (what[0] == '\'' || what[0] == '`') && say(words, 1, "assertion %.*s' failed", (int)(end - what), what);
}

static bool glib(struct words *words, const char *text)
{
    const char *what = after(text, "ERROR **: ");
    if (what) {
        if (is_digit(what[0]) && is_digit(what[1]) && what[2] == ':' && strstr(what, ": "))
            what = strstr(what, ": ") + 2;
        return say(words, 1, "%s", what);
    }
    const char *place = after(text, "ERROR:"), *line = place ? strchr(place, ':') : NULL;
    const char *function = line && is_digit(line[1]) ? strchr(line + 1, ':') : NULL;
    what = function ? after(function, ": ") : NULL;
    return what && say(words, 1, "%s (%.*s)", what, (int)(function - place), place);
}

static bool cplusplus(struct words *words, const char *text)
{
    const char *type = after(text, "terminate called after throwing an instance of '"), *end = type ? strrchr(type, '\'') : NULL;
    if (end && starts(next_line(words, 1), "  what():  "))
        return say(words, 2, "exception of type %.*s: %s", (int)(end - type), type, next_line(words, 1) + strlen("  what():  "));
    if (end)
        return say(words, 1, "exception of type %.*s", (int)(end - type), type);
    type = after(text, "uncaught exception of type ");
    if (type && strstr(text, "terminating"))
        return say(words, 1, "exception of type %s", type);
    return (starts(text, "terminate called ") || starts(text, "pure virtual method called")) && say(words, 1, "%s", text);
}

static bool sanitizer(struct words *words, const char *text)
{
    const char *what = after(text, "ERROR: "), *error = after(text, ": runtime error: ");
    if (error)
        return say(words, 1, "%s (%.*s)", error, (int)(error - text) - (int)strlen(": runtime error: "), text);
    return what && strstr(what, "Sanitizer: ") && say(words, 1, "%s", what);
}

static bool swift(struct words *words, const char *text)
{
    const char *what = after(text, ": Fatal error: ");
    return what && say(words, 1, "%s", what);
}

static bool others(struct words *words, const char *text)
{
    static const char *const begins[] = {
        "panic: ", "fatal error: ", "Fatal error: exception ", "PHP Fatal error: ", "free(): ", "malloc(): ", "malloc_consolidate(): ",
        "munmap_chunk(): ", "realloc(): ", "double free or corruption", "corrupted ", "Fatal glibc error: ", "SyntaxError: ",
    };
    /* Ruby: "file.rb:1:in `open': no notes (RuntimeError)" */
    const char *of_ruby = strstr(text, ":in `") ? after(strstr(text, ":in `"), "': ") : strstr(text, ":in '") ? after(strstr(text, ":in '") + 5, "': ") : NULL;
    if (of_ruby && strchr(of_ruby, '('))
        return say(words, 1, "%s", of_ruby);
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (starts(text, begins[i]))
            return say(words, 1, "%s", text);
    return starts(text, "*** ") && strstr(text, " ***: terminated") && say(words, 1, "%s", text);
}

static bool is_said(struct words *words)
{
    static bool (*const all[])(struct words *, const char *) = { python, rust, java, javascript, google, assertion, glib, cplusplus, sanitizer, swift, others };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i](words, words->lines[words->at].text))
            return true;
    return false;
}

/* ---- which of them ---- */

/* A line that a runtime writes after its words: of a stack, or what to do about it. */
static bool belongs(const struct line *line)
{
    static const char *const begins[] = { " ", "\t", "#", "@", "*", "}", "{", "[", "goroutine ", "created by ", "note: ", "stack backtrace", "Node.js v",
                                          "Caused by: ", "Aborted", "exit status", "SUMMARY", "=", "Bail out!", "Current thread", "Thread " };
    const size_t digits = strspn(line->text, "0123456789");
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (starts(line->text, begins[i]))
            return true;
    return !line->size || (digits && line->text[digits] == ':') || line->text[line->size - 1] == ')';
}

/* The last words that some runtime says; false: there are none, or the program went on. */
static bool find(struct words *words)
{
    char *kept = malloc(words->room), *given = words->text;
    bool found = false;
    uint32_t others_since = 0;
    if (!kept)
        return false;
    words->text = kept;
    for (words->at = 0; words->at < words->count; words->at++) {
        kept[0] = 0;
        if (is_said(words) && kept[0]) {
            memcpy(given, kept, words->room);
            found = true;
            others_since = 0;
            words->at += words->taken - 1;
        } else {
            others_since += !belongs(&words->lines[words->at]);
        }
    }
    words->text = given;
    free(kept);
    return found && others_since <= OTHER_LINES_MAX;
}

static bool last_line(const struct words *words)
{
    for (uint32_t i = words->count; i-- > 0;)
        if (words->lines[i].text[strspn(words->lines[i].text, " \t")]) {
            snprintf(words->text, words->room, "%s", words->lines[i].text);
            return true;
        }
    return false;
}

/* Cut the text into lines, without the sequences by which a terminal shows colours. */
static uint32_t cut(char *text, size_t size, bool is_cut, struct line *lines, uint32_t most)
{
    uint32_t count = 0;
    char *to = text;
    size_t at = 0;
    while (is_cut && at < size && text[at++] != '\n') /* of the first line only the end is there */
        ;
    lines[0].text = to;
    for (; at < size && count < most; at++) {
        if (text[at] == '\x1b' && at + 1 < size && text[at + 1] == '[') {
            for (at += 2; at < size && !(text[at] >= '@' && text[at] <= '~'); at++)
                ;
            continue;
        }
        if (text[at] != '\n') {
            if (text[at] && text[at] != '\r')
                *to++ = text[at];
            continue;
        }
        lines[count].size = (size_t)(to - lines[count].text);
        *to++ = 0;
        if (++count < most)
            lines[count].text = to;
    }
    if (count < most && to > lines[count].text) {
        lines[count].size = (size_t)(to - lines[count].text);
        *to = 0;
        count++;
    }
    return count;
}

/* Ends by the program's own will, whose words a runtime may have said; a fault of the CPU has
 * none. */
static bool may_have_words(lg_reader *reader, const lg_verdict *verdict)
{
    lg_message message;
    const char *kind = lg_crash_kind_name(verdict->kind);
    if (verdict->end == LG_END_EXIT)
        return true;
    const bool is_own = starts(kind, "abort.") || starts(kind, "trap.") || verdict->evidence == LG_EVIDENCE_WITNESS;
    return verdict->end == LG_END_CRASH && is_own && lg_reader_message(reader, 0, &message) != LG_OK;
}

#define LINES_MAX 2048u
static_assert(LG_STDERR_MAX == LG__TAIL_BYTES, "all bytes fit");

lg_status lg_reader_last_words(lg_reader *reader, lg_message *ret_message)
{
    lg_verdict verdict;
    uint64_t total = 0;
    size_t size = 0;
    if (!reader || !ret_message)
        return LG_ERR_ARGUMENT;
    lg_status status = lg_reader_verdict(reader, &verdict);
    if (status == LG_OK && !may_have_words(reader, &verdict))
        status = LG_ERR_NOT_FOUND;
    if (status != LG_OK)
        return status;
    char *text = malloc(LG_STDERR_MAX + 1);
    struct line *lines = calloc(LINES_MAX, sizeof *lines);
    status = text && lines ? lg_reader_stderr(reader, (uint8_t *)text, &size, &total) : LG_ERR_SYSTEM;
    if (status == LG_OK) {
        struct words words = { .lines = lines, .text = ret_message->text, .room = sizeof ret_message->text };
        words.count = cut(text, size, total > size, lines, LINES_MAX);
        if (find(&words) || (verdict.end == LG_END_EXIT && last_line(&words))) {
            ret_message->source = LG_MESSAGE_STDERR;
            ret_message->cut = 0;
            ret_message->size = (uint32_t)strlen(ret_message->text);
        } else {
            status = LG_ERR_NOT_FOUND;
        }
    }
    free(lines);
    free(text);
    return status;
}
