/* The system that a run began on: untrusted texts of the system, the files of a made-up machine,
 * and whole runs, whose file the public reader reads. */
#include "harness.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/os.h"
#include "store/crc32c.h"
#include "store/digest.h"
#include "store/format.h"

/* ---- the texts ---- */

static const char *value_of(const char *text, size_t size, const char *key)
{
    static char value[32];
    /* in memory that ends right after the text */
    char *copy = malloc(size ? size : 1);
    memcpy(copy, text, size);
    memset(value, '#', sizeof value);
    lg__os_release_value(copy, size, key, value, sizeof value);
    free(copy);
    assert_non_null(memchr(value, 0, sizeof value));
    return value;
}

static void test_release(void **state)
{
    static const struct { const char *text, *id; } cases[] = {
        { "ID=debian\n", "debian" },
        { "ID=debian", "debian" },
        { "NAME=x\nID=\"debian\"\nVERSION_ID=\"12\"\n", "debian" },
        { "ID='it is'\n", "it is" },
        { "ID=\"a \\\"b\\\" \\$c\\\\\"\n", "a \"b\" $c\\" },
        { "ID='a\\b'\n", "a\\b" },
        { "ID=a\\ b c\n", "a b" },
        { "  ID=x \t\r\n", "x" },
        { "ID=first\nID=last\n", "last" },
        { "ID=good\nID=\"not closed\nNAME=y\n", "good" },
        { "VERSION_ID=12\nMY_ID=y\n#ID=z\nid=w\n", "" },
        { "ID=\n", "" },
        { "ID=\"\"\n", "" },
        { "ID=\"", "" },
        { "ID='\n", "" },
        { "ID=\\", "\\" },
        { "ID", "" },
        { "", "" },
        { "\n\n\n", "" },
        { "ID=\x1b[31m\xff\n", "\x1b[31m\xff" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(value_of(cases[i].text, strlen(cases[i].text), "ID="), cases[i].id);
    assert_string_equal(value_of("ID=a\0b\nID=c\n", 12, "ID="), "c");
    char longest[5000] = "ID=";
    memset(longest + 3, 'x', sizeof longest - 3);
    assert_int_equal(strlen(value_of(longest, sizeof longest, "ID=")), 31);
    /* any bytes at all */
    unsigned seed = 1;
    for (int i = 0; i < 20000; i++) {
        static const char bytes[] = "ID=\"'\\ \n\n\0x=#";
        char text[24];
        const size_t size = (size_t)rand_r(&seed) % sizeof text;
        for (size_t at = 0; at < size; at++)
            text[at] = bytes[(size_t)rand_r(&seed) % sizeof bytes];
        value_of(text, size, "ID=");
    }
}

static const char *unit_of(const char *cgroups)
{
    static char unit[128];
    memset(unit, '#', sizeof unit);
    lg__os_unit(cgroups, unit, sizeof unit);
    assert_non_null(memchr(unit, 0, sizeof unit));
    return unit;
}

static void test_unit(void **state)
{
    static const struct { const char *cgroups, *unit; } cases[] = {
        { "0::/system.slice/player.service\n", "player.service" },
        { "0::/system.slice/player.service", "player.service" },
        { "0::/system.slice/player@1.service/worker/7\n", "player@1.service" },
        { "0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-player-7.scope\n", "app-player-7.scope" },
        { "12:memory:/system.slice/other.service\n1:name=systemd:/system.slice/player.service\n0::/\n", "player.service" },
        { "12:memory:/system.slice/other.service\n0::/\n", "" },
        { "0::/\n", "" },
        { "0::/docker/0123abcd\n", "" },
        { "0::/.service/.scope\n", "" },
        { "0::/player.services\n", "" },
        { "0::/a.service:b\n", "" },
        { "player.service", "" },
        { "0::", "" },
        { ":::::/x.service\n0:/y.service\n\n\n", "" },
        { "", "" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(unit_of(cases[i].cgroups), cases[i].unit);
    char longest[600] = "0::/";
    memset(longest + 4, 'x', 500);
    strcpy(longest + 504, ".service\n");
    assert_int_equal(strlen(unit_of(longest)), 127);
}

static void test_digest(void **state)
{
    /* By Python: hashlib.blake2s(b"x" * n, key=bytes(range(16)), digest_size=16) */
    static const struct { size_t size; uint8_t digest[16]; } cases[] = {
        { 1, { 0x7e, 0x96, 0x20, 0x88, 0x98, 0x99, 0xf5, 0x3a, 0x5a, 0x64, 0x23, 0x54, 0x1f, 0x85, 0xcf, 0xe0 } },
        { 19, { 0x7b, 0x7b, 0xb1, 0xb0, 0x30, 0x7c, 0x3f, 0x83, 0x82, 0x2a, 0x45, 0xcd, 0x21, 0xc6, 0x9f, 0xa1 } },
        { 63, { 0xd4, 0x15, 0x37, 0x17, 0xe0, 0x4e, 0x1f, 0xb0, 0x47, 0x5c, 0xc7, 0xee, 0x5f, 0xcd, 0x45, 0x24 } },
        { 64, { 0x67, 0x04, 0x17, 0xcc, 0xfb, 0x7d, 0x54, 0x6c, 0x35, 0x71, 0xae, 0x01, 0x09, 0x08, 0xa6, 0x01 } },
        { 65, { 0xc9, 0xcb, 0x00, 0xe3, 0x05, 0x1e, 0xca, 0x36, 0xf9, 0xb6, 0x66, 0xe8, 0x37, 0x9c, 0x7b, 0xea } },
        { 128, { 0x88, 0x90, 0x7c, 0x20, 0xda, 0x48, 0xab, 0x85, 0xa3, 0x4b, 0x8a, 0x5a, 0x71, 0xd3, 0xc2, 0x57 } },
        { 200, { 0xf3, 0xdf, 0x57, 0x52, 0x85, 0x95, 0xd7, 0x29, 0x5c, 0xe4, 0xfe, 0x4e, 0xcb, 0xc4, 0x48, 0x3e } },
    };
    uint8_t key[16], digest[16], text[200];
    (void)state;
    for (uint8_t i = 0; i < sizeof key; i++)
        key[i] = i;
    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lg__digest_keyed(key, text, cases[i].size, digest);
        assert_memory_equal(digest, cases[i].digest, sizeof digest);
    }
}

/* ---- a made-up machine ---- */

static char root[64];

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    return remove(path);
}

static int make_root(void **state)
{
    snprintf(root, sizeof root, "/tmp/lg-root-XXXXXX");
    unsetenv("container");
    unsetenv("KUBERNETES_SERVICE_HOST");
    return make_state(state) != 0 || !mkdtemp(root);
}

static int remove_root(void **state)
{
    nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return remove_state(state);
}

static void put(const char *path, const char *text, size_t size)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *slash = whole + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        mkdir(whole, 0700);
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

#define PUT(path, text) put(path, text, sizeof text - 1)

static struct lg__os_system found(void)
{
    struct lg__os_system system;
    memset(&system, '#', sizeof system);
    lg__os_system(root, &system);
    return system;
}

static void test_files(void **state)
{
    static const uint8_t none[16], id[16] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 1, 2, 3, 4, 5, 6, 7, 8 };
    (void)state;
    struct lg__os_system system = found();
    assert_string_equal(system.model, "");
    assert_string_equal(system.os_id, "");
    assert_memory_equal(system.machine_id, none, 16);

    PUT("/usr/lib/os-release", "ID=first\nVERSION_ID=1\n");
    PUT("/sys/class/dmi/id/product_name", "Kiosk 4 \n");
    PUT("/etc/machine-id", "0123456789abcdef0102030405060708\n");
    system = found();
    assert_string_equal(system.os_id, "first");
    assert_string_equal(system.model, "Kiosk 4");
    assert_memory_equal(system.machine_id, id, 16);

    PUT("/etc/os-release", "ID=second\n");
    system = found();
    assert_string_equal(system.os_id, "second");
    assert_string_equal(system.os_version, ""); /* of the same file */

    /* The last line of a file that is too long is cut: it does not count. */
    char text[6000];
    memset(text, 'x', sizeof text);
    memcpy(text, "ID=long\n", 8);
    memcpy(text + 4090, "\nID=cut and long", 16);
    put("/etc/os-release", text, sizeof text);
    assert_string_equal(found().os_id, "long");

    static const char *const bad[] = { "", "\n", "uninitialized\n", "0123456789abcdef010203040506070\n", "0123456789abcdef01020304050607080\n",
                                       "0123456789abcdef010203040506070g\n", "0123456789abcdef0102030405060708 \n" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        put("/etc/machine-id", bad[i], strlen(bad[i]));
        assert_memory_equal(found().machine_id, none, 16);
    }
    PUT("/etc/machine-id", "0123456789ABCDEF0102030405060708");
    assert_memory_equal(found().machine_id, id, 16);

    PUT("/proc/device-tree/model", "Board 3\0rest");
    assert_string_equal(found().model, lg__arch == LG__ARCH_AARCH64 ? "Board 3" : "Kiosk 4");
    PUT("/sys/class/dmi/id/product_name", "\n");
    assert_string_equal(found().model, lg__arch == LG__ARCH_AARCH64 ? "Board 3" : "");
}

static const char *container(void)
{
    static char name[32];
    memset(name, '#', sizeof name);
    lg__os_container(root, name);
    return name;
}

static void test_container(void **state)
{
    (void)state;
    assert_string_equal(container(), "");
    setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
    assert_string_equal(container(), "kubernetes");
    PUT("/run/.containerenv", "");
    assert_string_equal(container(), "podman");
    PUT("/.dockerenv", "");
    assert_string_equal(container(), "docker");
    setenv("container", "", 1);
    assert_string_equal(container(), "docker");
    setenv("container", "a name that is longer than thirty-one bytes", 1);
    assert_string_equal(container(), "a name that is longer than thir");
}

/* A change of the file changes the mark, also one that keeps its size and its time. */
static void test_mark(void **state)
{
    struct lg__os_mark first, second;
    char path[128];
    (void)state;
    assert_false(lg__os_release_mark(root, &first));
    PUT("/etc/os-release", "ID=a\n");
    assert_true(lg__os_release_mark(root, &first));
    pass_time(20, "longer than a tick of the kernel's clock for files");
    snprintf(path, sizeof path, "%s/etc/os-release", root);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    PUT("/etc/os-release", "ID=b\n");
    const struct timespec times[2] = { info.st_atim, info.st_mtim };
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_true(lg__os_release_mark(root, &second));
    assert_int_not_equal(first.changed_ns, second.changed_ns);
}

/* ---- whole runs ---- */

static void body_runs(void *keep)
{
    lg_options options = LG_OPTIONS_INIT;
    options.keep_command_line = keep != NULL;
    start_with(options);
    raise(SIGKILL);
}

static lg_system_info newest_system(void)
{
    lg_system_info system = LG_SYSTEM_INFO_INIT;
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_system(reader, &system), LG_OK);
    lg_reader_close(reader);
    return system;
}

static void test_run(void **state)
{
    char own[4096], name[17];
    struct utsname names;
    (void)state;
    uname(&names);
    expect_signal(body_runs, NULL, SIGKILL);
    lg_system_info system = newest_system();
    assert_int_equal(system.size, sizeof system);
    assert_string_equal(system.kernel, names.release);
    assert_string_equal(system.hardware, names.machine);
    assert_int_equal(system.parent_pid, getpid());
    lg__os_process_name(getpid(), name);
    if (!system.unit[0])
        assert_string_equal(system.parent_name, name);
    assert_int_equal(system.command_line_size, 0);
    assert_string_equal(system.command_line, "");

    expect_signal(body_runs, &names, SIGKILL);
    system = newest_system();
    FILE *file = fopen("/proc/self/cmdline", "r");
    size_t size = fread(own, 1, sizeof own, file);
    fclose(file);
    assert_int_equal(system.command_line_size, size < 968 ? size : 968);
    assert_memory_equal(system.command_line, own, system.command_line_size);
    assert_int_equal(system.command_line_cut, size > 968);
}

/* A start finds the machine in the ledger, and does not where anything about it is wrong. */
static void test_found_machine(void **state)
{
    struct lg__found_machine machine, changed;
    (void)state;
    expect_signal(body_runs, NULL, SIGKILL);
    const lg_system_info first = newest_system();
    int file = open(state_path("ledger.lg"), O_RDWR | O_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(pread(file, &machine, sizeof machine, 4608), sizeof machine);
    assert_string_equal(machine.machine.os_id, first.os_id);
    for (int i = 0; i < 5; i++) {
        changed = machine;
        strcpy(changed.machine.os_id, "other");
        changed.boot_id[0] ^= i == 1;
        changed.release_inode ^= i == 2;
        changed.release_changed_ns ^= i == 3;
        changed.crc = lg__crc32c(0, changed.boot_id, sizeof changed - offsetof(struct lg__found_machine, boot_id)) ^ (i == 4);
        assert_int_equal(pwrite(file, &changed, sizeof changed, 4608), sizeof changed);
        expect_signal(body_runs, NULL, SIGKILL);
        assert_string_equal(newest_system().os_id, i == 0 ? "other" : first.os_id);
        assert_int_equal(pread(file, &changed, sizeof changed, 4608), sizeof changed);
        assert_string_equal(changed.machine.os_id, i == 0 ? "other" : first.os_id);
    }
    close(file);
}

static void body_is_service(void *invocation)
{
    setenv("INVOCATION_ID", invocation, 1);
    setenv("container", "made-up", 1);
    body_runs(NULL);
}

static void test_environment(void **state)
{
    (void)state;
    expect_signal(body_is_service, "0123456789abcdef0123456789abcdef", SIGKILL);
    lg_system_info system = newest_system();
    assert_string_equal(system.container, "made-up");
    const size_t size = strlen(system.unit);
    bool in_service = size > 8 && strcmp(system.unit + size - 8, ".service") == 0;
    assert_string_equal(system.invocation, in_service ? "0123456789abcdef0123456789abcdef" : "");
}

/* Sizes of the caller's structure: of this version, a later one, and none. */
static void test_sizes(void **state)
{
    struct { lg_system_info info; uint8_t more[64], after; } later;
    (void)state;
    expect_signal(body_runs, NULL, SIGKILL);
    lg_reader *reader = newest_run();
    memset(&later, '#', sizeof later);
    later.info.size = sizeof later.info + sizeof later.more;
    assert_int_equal(lg_reader_system(reader, &later.info), LG_OK);
    assert_int_equal(later.info.size, sizeof later.info + sizeof later.more);
    for (size_t i = 0; i < sizeof later.more; i++)
        assert_int_equal(later.more[i], 0);
    assert_int_equal(later.after, '#');
    for (uint32_t size = 0; size < sizeof later.info; size += 4) {
        later.info.size = size;
        assert_int_equal(lg_reader_system(reader, &later.info), LG_ERR_OPTION);
    }
    assert_int_equal(lg_reader_system(reader, NULL), LG_ERR_ARGUMENT);
    assert_int_equal(lg_reader_system(NULL, &later.info), LG_ERR_ARGUMENT);
    lg_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_unit),
        cmocka_unit_test(test_digest),
        cmocka_unit_test_setup_teardown(test_files, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_container, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_mark, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_run, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_found_machine, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_environment, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_sizes, make_root, remove_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
