#include "annotations.h"

#include <string.h>

bool annotation_of(lg_reader *reader, const char *key, lg_annotation *ret_annotation)
{
    lg_annotation one;
    unsigned found = 0;
    for (uint32_t i = 0; i < LG_ANNOTATIONS_MAX; i++) {
        lg_status status = lg_reader_annotation(reader, i, &one);
        assert_true(status == LG_OK || status == LG_ERR_NOT_FOUND);
        if (status == LG_OK && strcmp(one.key, key) == 0) {
            *ret_annotation = one;
            found++;
        }
    }
    assert_true(found <= 1);
    return found == 1;
}

uint32_t annotation_count(lg_reader *reader)
{
    lg_annotation one;
    uint32_t count = 0;
    for (uint32_t i = 0; i < LG_ANNOTATIONS_MAX; i++)
        count += lg_reader_annotation(reader, i, &one) == LG_OK;
    assert_int_equal(lg_reader_annotation(reader, LG_ANNOTATIONS_MAX, &one), LG_ERR_NOT_FOUND);
    return count;
}
