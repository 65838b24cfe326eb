/* The service unit that a process is in, from the text of /proc/PID/cgroup. */
#include "harness.h"

#include <string.h>

#include "process/scope.h"

static void test_units(void **state)
{
    static const struct {
        const char *text, *unit;
        bool user;
    } rows[] = {
        { "0::/system.slice/player.service\n", "player.service", false },
        { "12:cpu:/\n0::/system.slice/system-x.slice/player@1.service\n", "player@1.service", false },
        { "0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.service\n", "x.service", true },
        { "0::/user.slice/user-1.slice/session-1.scope\n", NULL, false },
        { "0::/system.slice/player.service/sub\n", NULL, false },
        { "0::/init.scope\n", NULL, false },
        { "0::/.service\n", NULL, false },
        { "0::player.service", NULL, false },
        { "0::/\n", NULL, false },
        { "", NULL, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char unit[64] = "";
        bool user = false;
        assert_int_equal(scope_unit(rows[i].text, unit, sizeof unit, &user), rows[i].unit != NULL);
        assert_string_equal(unit, rows[i].unit ? rows[i].unit : "");
        assert_int_equal(user, rows[i].user);
    }
}

static void test_a_long_name_is_no_unit(void **state)
{
    char text[400] = "0::/", unit[64] = "";
    bool user;
    (void)state;
    memset(text + 4, 'a', 300);
    strcpy(text + 304, ".service\n");
    assert_false(scope_unit(text, unit, sizeof unit, &user));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_units), cmocka_unit_test(test_a_long_name_is_no_unit) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
