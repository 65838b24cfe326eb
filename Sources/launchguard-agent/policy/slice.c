#include "policy/slice.h"

bool slice_is_one_of_many(const struct lg__report_header *report)
{
    return report->full_bytes > SLICE_BYTES;
}

uint32_t slice_bytes(const struct lg__report_header *report)
{
    const uint32_t left = report->full_bytes - report->full_taken;
    return left < SLICE_BYTES ? left : SLICE_BYTES;
}

bool slice_take(struct lg__report_header *report)
{
    report->full_taken += slice_bytes(report);
    return report->full_taken == report->full_bytes;
}
