/* The category, text and fields within the bytes of one breadcrumb. They were copied and their
 * checksum is right; their sizes may still lie. */
#include "examine/fields.h"

#include <string.h>

#include "store/format.h"

bool lg__reader_fields(const char *bytes, size_t size, struct lg__reader_fields *ret_fields)
{
    struct lg__fields head;
    if (size < sizeof head)
        return false;
    memcpy(&head, bytes, sizeof head);
    size_t left = size - sizeof head;
    if (head.category_size >= LG__NAME_BYTES || left < (size_t)head.category_size + head.text_size)
        return false;
    left -= (size_t)head.category_size + head.text_size;
    const char *category = bytes + sizeof head, *text = category + head.category_size, *field = text + head.text_size;
    *ret_fields = (struct lg__reader_fields){ category, text, field, head.category_size, head.text_size, head.field_count };
    for (unsigned i = 0; i < head.field_count; i++) {
        struct lg__field sizes;
        if (left < sizeof sizes)
            return false;
        memcpy(&sizes, field, sizeof sizes);
        size_t field_size = sizeof sizes + sizes.key_size + sizes.value_size;
        if (left < field_size)
            return false;
        left -= field_size;
        field += field_size;
    }
    return true;
}

void lg__reader_field(const char *field, lg_log_field *ret_field, const char **ret_next)
{
    struct lg__field sizes;
    memcpy(&sizes, field, sizeof sizes);
    field += sizeof sizes;
    ret_field->key_size = sizes.key_size;
    ret_field->value_size = sizes.value_size;
    memcpy(ret_field->key, field, sizes.key_size);
    memcpy(ret_field->value, field + sizes.key_size, sizes.value_size);
    ret_field->key[sizes.key_size] = ret_field->value[sizes.value_size] = 0;
    *ret_next = field + sizes.key_size + sizes.value_size;
}
