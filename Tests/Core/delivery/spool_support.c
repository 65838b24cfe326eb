#include "spool_support.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/crc32c.h"

void write_text(const char *name, const char *text)
{
    int file = open(state_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
        abort();
    close(file);
}

const char *read_text(const char *name)
{
    static char text[16384];
    int file = open(state_path(name), O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    text[size < 0 ? 0 : size] = 0;
    return text;
}

bool is_there(const char *name)
{
    return access(state_path(name), F_OK) == 0;
}

void plan(const char *what)
{
    write_text("plan", what);
}

unsigned agents_started(void)
{
    unsigned count = 0;
    for (const char *at = read_text("agents"); *at; at++)
        count += *at == '\n';
    return count;
}

void await_agents(unsigned count)
{
    wait_until(agents_started() >= count);
}

static bool agent_lives(void)
{
    int spool = open(state_path("spool"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool lives = spool >= 0 && lg__spool_agent_lives(spool);
    if (spool >= 0)
        close(spool);
    return lives;
}

void await_living_agent(void)
{
    wait_until(agent_lives());
}

unsigned entries_in(const char *folder)
{
    char path[64];
    unsigned count = 0;
    snprintf(path, sizeof path, "spool/%s", folder);
    DIR *stream = opendir(state_path(path));
    for (struct dirent *entry; stream && (entry = readdir(stream));)
        count += entry->d_name[0] != '.';
    if (stream)
        closedir(stream);
    return count;
}

const char *put_report(const char *folder, uint64_t ordinal, uint8_t number)
{
    return put_header(folder, (struct lg__report_header){ .uuid = { number }, .run_uuid = { number }, .fingerprint = { 0xab, number }, .ordinal = ordinal,
                                                          .made_ns = 7, .end = LG_END_CRASH, .attempts = 3 });
}

const char *put_header(const char *folder, struct lg__report_header header)
{
    static char name[LG__REPORT_NAME_BYTES];
    char path[128];
    struct lg__report_name parts = { .priority = LG__PRIORITY_OTHER, .ordinal = header.ordinal };
    memcpy(parts.uuid, header.uuid, sizeof parts.uuid);
    header.major = LG__REPORT_MAJOR;
    header.header_bytes = sizeof header;
    memcpy(header.magic, LG__MAGIC_REPORT, sizeof header.magic);
    lg__crc32c_init();
    lg__report_seal(&header);
    lg__report_name(&parts, name);
    snprintf(path, sizeof path, "spool/%s/%s", folder, name);
    int file = open(state_path(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, &header, sizeof header) != (ssize_t)sizeof header)
        abort();
    close(file);
    return name;
}

/* The agents become children of the test when the program that started them has ended. */
int begin_delivery(void **state)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    unsetenv("LAUNCHGUARD_NO_DELIVERY");
    unsetenv("LAUNCHGUARD_AGENT");
    return make_state(state);
}

int end_delivery(void **state)
{
    end_children();
    return remove_state(state);
}

lg_delivery_options good_options(void)
{
    lg_delivery_options options = LG_DELIVERY_OPTIONS_INIT;
    options.target = LG_TARGET_HTTP;
    options.endpoint = "http://127.0.0.1:9/reports";
    options.consent = LG_CONSENT_GIVEN;
    options.agent_path = FAKE_AGENT;
    return options;
}

lg_session *start_delivery(lg_delivery_options options, lg_status status)
{
    lg_session *session = start_session();
    lg_status is = lg_delivery_start(session, &options);
    if (is != status) {
        fprintf(stderr, "lg_delivery_start: %s: %s\n", lg_status_name(is), lg_session_message(session));
        _exit(98);
    }
    return session;
}
