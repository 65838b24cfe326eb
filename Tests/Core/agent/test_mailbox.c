/* The reports in the spool survive a death of the agent at every step: none is lost, none is there
 * twice, none is torn. */
#include "harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "process/agent_log.h"
#include "send/mailbox.h"
#include "store/crc32c.h"

static const char brief[] = "{\"uuid\":\"a\"}", full[] = "{\"everything\":[1,2,3]}";
static const struct lg__report_name first = { LG__PRIORITY_FIRST, 7, { 1, 2, 3 } };

static void consent(int spool, bool given, uint64_t from_ordinal)
{
    assert_int_equal(lg__consent_write(spool, &(struct lg__consent){ given, from_ordinal }, false), LG_OK);
}

static int open_spool(void)
{
    struct lg__problem problem = { .status = LG_OK };
    int directory = open(state_path("."), O_RDONLY | O_DIRECTORY);
    int spool = lg__spool_open(directory, state_path("."), true, &problem);
    close(directory);
    assert_true(spool >= 0);
    agent_log_open(spool, false);
    lg__crc32c_init();
    consent(spool, true, 0);
    return spool;
}

/* ---- an agent that dies at the nth step ---- */

static long left;
static void die(const char *point)
{
    (void)point;
    if (--left == 0)
        _exit(1);
}

enum { ADDED = 1, UPDATED = 2, SENT = 3 };

/* The certain knowledge of the test: the step that the agent had reached. */
static int *reached;

static void life(void *argument)
{
    struct mailbox mailbox;
    (void)argument;
    if (!mailbox_open(open_spool(), &mailbox))
        _exit(90);
    lg__fault_hook = die;
    struct lg__report_header header = { .made_ns = 5, .end = LG_END_CRASH };
    struct mail *mail = mailbox_add(&mailbox, &first, &header, brief, strlen(brief), full, strlen(full));
    if (!mail)
        _exit(91);
    *reached = ADDED;
    mail->header.attempts = 1;
    mail->header.flags = LG__REPORT_BRIEF_SENT;
    if (!mailbox_update(&mailbox, mail))
        _exit(92);
    *reached = UPDATED;
    if (!mailbox_move(&mailbox, mail, LG_DELIVERY_SENT))
        _exit(93);
    *reached = SENT;
}

static void check_remains(void)
{
    struct mailbox mailbox;
    assert_true(mailbox_open(open_spool(), &mailbox));
    assert_int_equal(mailbox.damaged, 0);
    assert_true(mailbox.count <= 1);
    if (*reached >= ADDED)
        assert_int_equal(mailbox.count, 1);
    if (mailbox.count) {
        struct mail *mail = &mailbox.mails[0];
        if (*reached == SENT)
            assert_int_equal(mail->state, LG_DELIVERY_SENT);
        if (*reached >= UPDATED)
            assert_int_equal(mail->header.flags, LG__REPORT_BRIEF_SENT);
        if (mail->state == LG_DELIVERY_PENDING) {
            char *bytes = mailbox_read(&mailbox, mail);
            assert_non_null(bytes);
            assert_memory_equal(bytes, brief, strlen(brief));
            assert_string_equal(bytes + strlen(brief), full);
            free(bytes);
        }
        assert_true(mailbox_find(&mailbox, first.uuid) == mail);
    }
    free(mailbox.mails);
}

static void test_death_at_every_step(void **state)
{
    (void)state;
    reached = shared_memory(sizeof *reached);
    long steps = 0;
    for (bool more = true; more; steps++) {
        assert_true(steps < 64);
        remove_state(NULL);
        make_state(NULL);
        *reached = 0;
        left = steps + 1;
        struct death death = run_child(life, NULL);
        assert_false(death.late);
        more = death.status == 1 << 8;
        assert_true(more || death.status == 0);
        check_remains();
    }
    assert_true(steps > 6); /* the points were passed */
    assert_int_equal(*reached, SENT);
}

/* ---- what is on the disk is not to be trusted ---- */

static void damage(const char *path, off_t at)
{
    char byte;
    int file = open(path, O_RDWR);
    assert_int_equal(pread(file, &byte, 1, at), 1);
    byte = (char)~byte;
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
    close(file);
}

static void test_damaged_reports_are_put_aside(void **state)
{
    struct mailbox mailbox;
    struct lg__report_header header = { .made_ns = 5, .end = LG_END_CRASH };
    char path[256];
    (void)state;
    assert_true(mailbox_open(open_spool(), &mailbox));
    for (unsigned i = 0; i < 4; i++) {
        struct lg__report_name parts = { LG__PRIORITY_OTHER, 10 + i, { (uint8_t)(i + 1) } };
        assert_non_null(mailbox_add(&mailbox, &parts, &header, brief, strlen(brief), full, strlen(full)));
    }
    snprintf(path, sizeof path, "%s/%s", state_path("spool/new"), mailbox.mails[1].name);
    damage(path, 70); /* its header */
    snprintf(path, sizeof path, "%s/%s", state_path("spool/new"), mailbox.mails[2].name);
    assert_int_equal(truncate(path, 460), 0);
    snprintf(path, sizeof path, "%s/%s", state_path("spool/new"), mailbox.mails[3].name);
    damage(path, (off_t)sizeof header + 3); /* its text */
    mailbox_refresh(&mailbox);
    assert_int_equal(mailbox.damaged, 2);
    assert_int_equal(mailbox.count, 2);
    const uint8_t whole[16] = { 1 }, torn[16] = { 4 };
    char *bytes = mailbox_read(&mailbox, mailbox_find(&mailbox, whole));
    assert_non_null(bytes);
    free(bytes);
    assert_null(mailbox_read(&mailbox, mailbox_find(&mailbox, torn)));
    struct stat info;
    struct lg__report_name parts = { LG__PRIORITY_OTHER, 11, { 2 } };
    char name[LG__REPORT_NAME_BYTES];
    lg__report_name(&parts, name);
    snprintf(path, sizeof path, "%s/%s", state_path("spool/dead"), name);
    assert_int_equal(stat(path, &info), 0);
    free(mailbox.mails);
}

static void test_foreign_names_stay(void **state)
{
    static const char *const names[] = { "README", "0-1-x.lgreport", "9-00000000000000000007-01020300-0000-0000-0000-000000000000.lgreport" };
    struct mailbox mailbox;
    char path[256];
    struct stat info;
    (void)state;
    int spool = open_spool();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", state_path("spool/new"), names[i]);
        close(open(path, O_WRONLY | O_CREAT, 0600));
    }
    assert_true(mailbox_open(spool, &mailbox));
    assert_int_equal(mailbox.count, 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", state_path("spool/new"), names[i]);
        assert_int_equal(stat(path, &info), 0);
    }
}

/* ---- consent ---- */

static struct mailbox withheld;
static const char *withheld_at;

static void withhold(const char *point)
{
    if (strcmp(point, withheld_at) == 0)
        consent(withheld.spool, false, first.ordinal + 1);
}

static void expect_no_report(const char *at)
{
    const struct lg__report_header header = { .made_ns = 5, .end = LG_END_CRASH };
    char path[256], name[LG__REPORT_NAME_BYTES];
    struct stat info;
    withheld_at = at;
    lg__fault_hook = withhold;
    assert_null(mailbox_add(&withheld, &first, &header, brief, strlen(brief), full, strlen(full)));
    lg__fault_hook = NULL;
    lg__report_name(&first, name);
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", state_path(i ? "spool/tmp" : "spool/new"), name);
        assert_int_equal(stat(path, &info), -1);
    }
    assert_int_equal(withheld.permit.out, 0);
}

static void test_no_report_without_consent(void **state)
{
    (void)state;
    const int spool = open_spool();
    assert_true(mailbox_open(spool, &withheld));
    expect_no_report("mailbox: file made");
    consent(spool, true, 0);
    expect_no_report("mailbox: file written");
    expect_no_report("never"); /* it is withheld now */
    consent(spool, true, first.ordinal + 1);
    expect_no_report("never"); /* given for later runs */
    consent(spool, true, first.ordinal);
    const struct lg__report_header header = { .made_ns = 5, .end = LG_END_CRASH };
    struct mail *mail = mailbox_add(&withheld, &first, &header, brief, strlen(brief), full, strlen(full));
    assert_non_null(mail);
    consent(spool, false, first.ordinal + 1);
    assert_false(mailbox_move(&withheld, mail, LG_DELIVERY_HELD));
    assert_false(mailbox_move(&withheld, mail, LG_DELIVERY_SENT));
    free(withheld.mails);
}

int main(void)
{
    const struct CMUnitTest tests[] = { WITH_STATE(test_death_at_every_step), WITH_STATE(test_damaged_reports_are_put_aside), WITH_STATE(test_foreign_names_stay),
                                         WITH_STATE(test_no_report_without_consent) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
