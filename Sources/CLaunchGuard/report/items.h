/* Lists of objects that the reader gives one after the other. */
#ifndef LG_REPORT_ITEMS_H
#define LG_REPORT_ITEMS_H

#include "report/table.h"

struct lg__items {
    const struct lg__shape *shape;
    const char *part; /* that a problem names */
    bool is_always;   /* the list is written without items, too */
    lg_status (*read)(struct lg__report *report, const void *of, uint32_t index, void *ret_item);
};

/* A reader's function of that kind that needs the index alone. */
#define LG__READ(name, call, type)                                                                        \
    static lg_status name(struct lg__report *report, const void *of, uint32_t index, void *ret_item)      \
    {                                                                                                     \
        (void)of;                                                                                         \
        return call(report->reader, index, (type *)ret_item);                                             \
    }

/* Write the list, as far as it can be read: a damaged item does not hide those after it. `item` has
 * room for one. */
void lg__items_write(struct lg__report *report, const struct lg__items *items, const void *of, uint32_t most, void *item);

#endif
