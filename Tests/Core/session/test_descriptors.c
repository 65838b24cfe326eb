/* The descriptors that a session keeps: those of SECURITY.md, and no directory, which would lead
 * out of a chroot(). After one, nothing is made in the new root. */
#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/os.h"
#include "waiting.h"

#define MOST 256

static bool was_open[MOST];

/* The name of a descriptor in SECURITY.md. */
static const char *name_of(const char *target)
{
    static const struct { const char *part, *name; } names[] = {
        { ".lgrun", "run file" }, { "ledger.lg", "ledger" }, { "/maps", "memory map" }, { "pipe:", "pipe" }, { "standard-error", "standard error" },
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strstr(target, names[i].part))
            return names[i].name;
    return target;
}

static bool is_on_the_page(const char *name)
{
    static char page[65536];
    char bold[512];
    FILE *file = fopen(SECURITY_PAGE, "re");
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = 0;
    fclose(file);
    snprintf(bold, sizeof bold, "**%s**", name);
    return strstr(page, bold) != NULL;
}

/* Call `each` for every descriptor that the session has opened. Returns how many there are. */
static unsigned for_each(void (*each)(int descriptor, const char *target))
{
    char path[64], target[4096];
    unsigned count = 0;
    for (int descriptor = 0; descriptor < MOST; descriptor++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
        const ssize_t size = was_open[descriptor] ? -1 : readlink(path, target, sizeof target - 1);
        if (size < 0)
            continue;
        target[size] = 0;
        each(descriptor, target);
        count++;
    }
    return count;
}

static void check(int descriptor, const char *target)
{
    struct stat info;
    const char *name = name_of(target);
    if (fstat(descriptor, &info) != 0 || S_ISDIR(info.st_mode)) {
        fprintf(stderr, "descriptor %d is a directory: %s\n", descriptor, target);
        _exit(81);
    }
    if (!is_on_the_page(name)) {
        fprintf(stderr, "SECURITY.md has no **%s**, which descriptor %d is\n", name, descriptor);
        _exit(82);
    }
}

static void on_memory(const lg_memory *memory, void *user)
{
    (void)memory;
    (void)user;
}

/* The root group counts no memory that ran out, and not every container shows groups. */
static bool is_memory_counted(void)
{
    char groups[LG__CGROUPS_BYTES];
    uint64_t group, count;
    return lg__os_cgroups("", groups) && lg__os_oom_kills(groups, &group, &count);
}

/* A life that uses all that may open something. */
static lg_session *live(void)
{
    lg_launch_options launching = LG_LAUNCH_OPTIONS_INIT;
    lg_options options = LG_OPTIONS_INIT;
    lg_launch *launch;
    options.keep_stderr = 1;
    options.hang_running_ms = 60000;
    for (int descriptor = 0; descriptor < MOST; descriptor++)
        was_open[descriptor] = fcntl(descriptor, F_GETFD) >= 0;
    lg_session *session = start_with(options);
    if (lg_memory_watch(session, 90, on_memory, NULL) != LG_OK || lg_launch_prepare(session, "main", &launching, &launch) != LG_OK ||
        lg_launch_begin(launch) != LG_OK || lg_heartbeat(session) != LG_OK || lg_launch_finished(launch) != LG_OK ||
        lg_delivery_consent(session, LG_CONSENT_GIVEN) != LG_OK)
        _exit(83);
    /* the preparing thread opens files */
    wait_until(newest_info().oom_known || !is_memory_counted());
    return session;
}

static void body_lists(void *argument)
{
    (void)argument;
    const int file = open(state_path("standard-error"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || dup2(file, STDERR_FILENO) < 0)
        _exit(84);
    close(file);
    live();
    /* run file, ledger, memory map, both of standard error */
    if (for_each(check) != 5)
        _exit(85);
}

static void test_no_directory_and_all_named(void **state)
{
    (void)state;
    expect_exit(body_lists, NULL, 0);
}

/* ---- in a new root ---- */

static unsigned count_entries(const char *path)
{
    unsigned count = 0;
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return count;
}

/* The jail has a folder of the same path as the state directory, which is another one. */
static void make_jail(char *jail, char *same)
{
    snprintf(jail, 1024, "%s", state_path("jail"));
    snprintf(same, 4096, "%s", jail);
    assert_int_equal(mkdir(jail, 0755), 0);
    for (const char *at = state_path(""), *end; (end = strchr(at + 1, '/')); at = end) {
        strncat(same, at, (size_t)(end - at));
        mkdir(same, 0700);
    }
    strcat(same, "/runs");
    assert_int_equal(mkdir(same, 0700), 0);
    same[strlen(same) - strlen("/runs")] = 0;
}

static void try_to_leave_by(int descriptor)
{
    if (openat(descriptor, "../..", O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0 || errno != ENOTDIR)
        _exit(86);
}

static void body_in_jail(void *argument)
{
    lg_session *session = live();
    if (chroot(argument) != 0 || chdir("/") != 0)
        _exit(87);
    for (int descriptor = 3; descriptor < MOST; descriptor++)
        if (!was_open[descriptor] && fcntl(descriptor, F_GETFD) >= 0)
            try_to_leave_by(descriptor);
    if (lg_delivery_consent(session, LG_CONSENT_WITHHELD) == LG_OK)
        _exit(88);
    raise(SIGSEGV);
}

static void test_new_root(void **state)
{
    static char jail[1024], same[4096], map[1 << 20];
    size_t size;
    uint32_t cut;
    (void)state;
    if (geteuid() != 0)
        skip_because("only root may change the root directory");
    make_jail(jail, same);
    expect_signal(body_in_jail, jail, SIGSEGV);
    assert_int_equal(count_entries(jail), 1);
    assert_int_equal(count_entries(same), 1);
    lg_reader *reader = newest_run();
    /* the kernel's map is there, though the new root has no /proc */
    assert_int_equal(lg_reader_map(reader, map, sizeof map, &size, &cut), LG_OK);
    assert_non_null(strstr(map, "[stack]"));
    lg_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_no_directory_and_all_named),
        WITH_STATE(test_new_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
