// A library in C++ whose callbacks do not catch what they throw.
#include <launchguard/launchguard.h>

#include <stdexcept>

extern "C" {
void throwing_report(const lg_report_batch *batch, lg_completion *done, void *user);
void throwing_repair(lg_completion *done, void *user);
void throwing_protect(void *user);
lg_status throwing_task(void *user);
void throwing_status(lg_launch *launch, lg_launch_status status, void *user);

void throwing_report(const lg_report_batch *, lg_completion *, void *)
{
    throw std::runtime_error("out of on_report");
}

void throwing_repair(lg_completion *, void *)
{
    throw std::runtime_error("out of a repair");
}

void throwing_protect(void *)
{
    throw std::runtime_error("out of a protect action");
}

lg_status throwing_task(void *)
{
    throw std::runtime_error("out of a task");
}

void throwing_status(lg_launch *, lg_launch_status status, void *)
{
    if (status == LG_LAUNCH_CHECKING)
        throw std::runtime_error("out of on_status");
}
}
