/* A run whose secrets must not leave the machine: dies by abort(), as PROGRAM STATE [ARGUMENT…],
 * with "throw" by a C++ exception, and with "long" or "longer" far from main() and with many words.
 *
 * A redacted annotation, fields of its key in a breadcrumb and a guard event, the same values in
 * texts of every kind, and home directories there; what may leave stands beside them. */
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launchguard/launchguard.h"

/* A deep stack, and a message that leaves little room. */
static volatile int depth = 60;

static __attribute__((noinline)) int fall(char letter)
{
    char text[501];
    if (depth-- > 0)
        return fall(letter) + 1;
    memset(text, letter, sizeof text - 1);
    text[sizeof text - 1] = 0;
    if (depth < 0)
        __assert_fail(text, "f", 1, "f");
    return 0;
}

void throw_words(const char *words);

int main(int count, char **arguments)
{
    lg_session *session = NULL;
    static const lg_field fields[] = { { "token", "planted-field" }, { "file", "/home/planted-user/notes.db" }, { "size", "12" } };
    static const char *const said[] = {
        "harmless planted-annotation, planted-fieldplanted-guard", "harmless https://example.org/?token=planted-after-key&x=1", "harmless Token: planted words",
        "harmless {\"token\":\"planted-\\\"quoted\\\"-planted\",\"x\":1}", "harmless /run/user/planted-user/a /run/media/planted-user/disk /mnt/planted-user",
    };
    static const char text[] = "opened /home/planted-user/notes.db (file:///home/planted-user/a, -I/home/planted-user/b)";
    if (count < 2)
        return 2;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.secrets";
    bool is_longer = count > 2 && strcmp(arguments[2], "longer") == 0;
    options.app_version = is_longer ? "\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1" : "1.1/beta 2";
    options.state_directory = arguments[1];
    options.keep_command_line = 1;
    options.keep_stderr = 1;
    if (lg_start(&options, &session) != LG_OK)
        return 1;
    lg_annotate(session, "token", "planted-annotation");
    lg_redact(session, "token");
    lg_annotate(session, "document", "/var/home/planted-user/letter");
    lg_annotate(session, "language", "harmless");
    lg_log_fields(session, LG_LEVEL_INFO, "files", text, strlen(text), fields, 3);
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        lg_log_fields(session, LG_LEVEL_INFO, "planted-annotation", said[i], strlen(said[i]), NULL, 0);
    lg_annotate(session, "note", "harmless planted-annotation");
    pthread_setname_np(pthread_self(), "planted-annotat");
    static const lg_field faulty[] = { { "token", "planted-guard" }, { "file", "/home/planted-user/plugin" } };
    static const lg_guard_options guards = { .size = sizeof guards, .policy = LG_GUARD_SURVIVE, .quiet = 1 };
    if (lg_guard_start(session, &guards) != LG_OK ||
        !lg_guard_claim(LG_GUARD_SYMBOL, NULL, "no draw() in /home/planted-user/plugins/red.so", faulty, 2))
        return 1;
    if (count > 2 && strncmp(arguments[2], "long", 4) == 0)
        return fall(is_longer ? '\1' : 'm');
    if (count > 2 && strcmp(arguments[2], "throw") == 0)
        throw_words("harmless words of planted-annotation, token=planted-after-key");
    fputs("harmless: planted-annotation\n", stderr);
    abort();
}
