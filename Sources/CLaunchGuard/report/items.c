#include "report/items.h"

/* So many damaged items are passed over: a hostile file claims any number. */
#define DAMAGED_MAX 256u

void lg__items_write(struct lg__report *report, const struct lg__items *items, const void *of, uint32_t most, void *item)
{
    struct lg__json_list list = lg__json_list(&report->json);
    if (items->is_always)
        lg__json_list_begin(&report->json, &list);
    for (uint32_t i = 0; i < most; i++) {
        const lg_status status = items->read(report, of, i, item);
        if (lg__report_has(report, status, items->part)) {
            lg__json_item(&report->json, &list);
            lg__table_object(report, items->shape, item);
        } else if (status != LG_ERR_DAMAGED || i + 1 >= DAMAGED_MAX) {
            break;
        }
    }
    lg__json_list_end(&report->json, &list);
}
