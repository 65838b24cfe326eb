/* The messages of libc, the Swift runtime or a C++ exception before the end. */
#include "read/reader.h"

lg_status lg__reader_messages(const lg_reader *reader, struct lg__crash_messages *ret_messages)
{
    size_t size = 0;
    lg_status status = lg__reader_stage(reader, LG_STAGE_MESSAGES, ret_messages, sizeof *ret_messages, &size);
    if (status != LG_OK)
        return status;
    if (ret_messages->count > LG__MESSAGES_MAX || ret_messages->text_size > LG__MESSAGES_TEXT_BYTES ||
        size < offsetof(struct lg__crash_messages, text) + ret_messages->text_size)
        return LG_ERR_DAMAGED;
    for (uint32_t i = 0; i < ret_messages->count; i++) {
        const struct lg__message *message = &ret_messages->messages[i];
        if (message->offset > ret_messages->text_size || message->size > ret_messages->text_size - message->offset)
            return LG_ERR_DAMAGED;
    }
    return LG_OK;
}

lg_status lg_reader_message(lg_reader *reader, uint32_t index, lg_message *ret_message)
{
    struct lg__crash_messages messages;
    if (!reader || !ret_message)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__reader_crashed(reader);
    if (status == LG_OK)
        status = lg__reader_messages(reader, &messages);
    if (status != LG_OK)
        return status;
    if (index >= messages.count)
        return LG_ERR_NOT_FOUND;
    static_assert(LG__MESSAGES_TEXT_BYTES <= LG_MESSAGE_MAX, "every message fits");
    const struct lg__message *message = &messages.messages[index];
    ret_message->source = (lg_message_source)message->source;
    ret_message->cut = message->cut == 1;
    ret_message->size = message->size;
    memcpy(ret_message->text, messages.text + message->offset, message->size);
    ret_message->text[message->size] = 0;
    return LG_OK;
}
