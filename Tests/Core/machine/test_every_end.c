/* Every combination of the facts about a run that a file can have: lg__judge() finds the end that a
 * second reading of docs/ENDS.md finds (Tests/Format/ends.py, whose questions are in
 * every_end.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "read/judge.h"

struct node {
    bool asks;
    uint8_t fact;
    unsigned no, yes;
    uint8_t end, evidence, with, at;
};

#include "every_end.h"

#define BIT(name) (UINT32_C(1) << LG__FACT_##name)

static const char *const names[] = {
#define NAME(name) #name,
    LG__FACT_TABLE(NAME)
#undef NAME
};

static bool holds(void *of, enum lg__fact fact)
{
    return *(const uint32_t *)of >> fact & 1;
}

static const struct node *second_reading(uint32_t facts, bool replaced)
{
    const struct node *at = &nodes[roots[replaced]];
    while (at->asks)
        at = &nodes[facts >> at->fact & 1 ? at->yes : at->no];
    return at;
}

static unsigned long tried;

static void expect(uint32_t facts, bool replaced)
{
    const struct lg__judge_row *row = lg__judge(holds, &facts, replaced);
    const struct node *wanted = second_reading(facts, replaced);
    tried++;
    if (row->end == wanted->end && row->evidence == wanted->evidence && row->with == wanted->with && row->at == wanted->at)
        return;
    for (int i = 0; i < LG__FACTS; i++)
        if (facts >> i & 1)
            print_message("%s ", names[i]);
    fail_msg("%s: end %d, evidence %d, with %d, at %d; the second reading: %d, %d, %d, %d", replaced ? "replaced" : "not replaced", row->end,
             row->evidence, row->with, row->at, wanted->end, wanted->evidence, wanted->with, wanted->at);
}

/* Facts that exclude each other, or of which one needs another: the choices that a run has. */
#define CHOICES(...) { (const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t) }
#define SEEN(record) \
    (record), (record) | BIT(SEEN_EXIT_0), (record) | BIT(SEEN_EXIT_N), (record) | BIT(SEEN_REQUEST), (record) | BIT(SEEN_DEADLY), (record) | BIT(SEEN_KILL)
/* the signal of the record, or another one */
#define DIED(record) \
    SEEN(record), (record) | BIT(SEEN_RECORD) | BIT(SEEN_REQUEST), (record) | BIT(SEEN_RECORD) | BIT(SEEN_DEADLY), (record) | BIT(SEEN_RECORD) | BIT(SEEN_KILL)
static const struct choices {
    const uint32_t *of;
    size_t count;
} choices[] = {
    CHOICES(SEEN(0), SEEN(BIT(SURVIVED)), SEEN(BIT(SURVIVED) | BIT(TRACED)), DIED(BIT(DUMPED)), DIED(BIT(DUMPED) | BIT(TRACED)), DIED(BIT(CRASHED)),
            DIED(BIT(CRASHED) | BIT(TRACED))),
    CHOICES(0, BIT(EXECUTED), BIT(STOPPED), BIT(EXIT_0), BIT(EXIT_N)),
    CHOICES(0, BIT(ASKED), BIT(ASKED) | BIT(LIVED_ON), BIT(LIVED_ON)),
    CHOICES(0, BIT(OOM_GROUP), BIT(OOM_GROUP) | BIT(OOM_LARGEST), BIT(OOM_NAMED), BIT(OOM_NAMED) | BIT(OOM_GROUP),
            BIT(OOM_NAMED) | BIT(OOM_GROUP) | BIT(OOM_LARGEST)),
    CHOICES(0, BIT(WILL_END), BIT(WILL_RESTART)),
    CHOICES(0, BIT(NOTED)),
    CHOICES(0, BIT(REBOOTED)),
    CHOICES(0, BIT(HUNG)),
    CHOICES(0, BIT(CPU_NEAR)),
    CHOICES(0, BIT(JOB_NEAR)),
    CHOICES(0, BIT(FORKED)),
    CHOICES(0, BIT(MEMORY_NEAR)),
};

static void choose(size_t next, uint32_t facts)
{
    if (next == sizeof choices / sizeof choices[0]) {
        expect(facts, false);
        expect(facts | BIT(ALIVE), false);
        expect(facts, true);
        return;
    }
    for (size_t i = 0; i < choices[next].count; i++)
        choose(next + 1, facts | choices[next].of[i]);
}

static void test_every_combination(void **state)
{
    (void)state;
    choose(0, 0);
    print_message("%lu combinations\n", tried);
    assert_true(tried > 1000000);
}

/* A choice that is missing above leaves a fact out. */
static void test_every_fact_has_its_choice(void **state)
{
    (void)state;
    uint32_t all = BIT(ALIVE);
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
        for (size_t k = 0; k < choices[i].count; k++)
            all |= choices[i].of[k];
    assert_int_equal(all, (UINT32_C(1) << LG__FACTS) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_fact_has_its_choice),
        cmocka_unit_test(test_every_combination),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
