/* The system that a run began on. */
#include "read/reader.h"
#include "store/crc32c.h"

/* Callers of later versions may have a larger structure, those of earlier ones a smaller one. */
#define FIRST_BYTES 1448u
static_assert(sizeof(lg_system_info) == FIRST_BYTES, "no caller has a smaller one");

static lg_status read_system(const lg_reader *reader, struct lg__system *ret_system)
{
    if (reader->kind != LG_FILE_RUN)
        return LG_ERR_STATE;
    struct lg__system system;
    const size_t from = offsetof(struct lg__system, invocation);
    if (!lg__reader_block(reader, LG__SECTION_SYSTEM, 0, &system, sizeof system))
        return LG_ERR_DAMAGED;
    if (atomic_load(&system.commit) == 0)
        return LG_ERR_INCOMPLETE;
    if (atomic_load(&system.commit) != LG__COMMIT_SYSTEM || system.command_line_size > sizeof system.command_line ||
        system.crc != lg__crc32c(0, system.invocation, offsetof(struct lg__system, command_line) - from + system.command_line_size))
        return LG_ERR_DAMAGED;
    *ret_system = system;
    return LG_OK;
}

/* In hex; "" for zeros. */
static void id_text(char text[33], const uint8_t id[16])
{
    static const uint8_t none[16];
    if (memcmp(id, none, sizeof none) != 0)
        lg__reader_hex(text, id, sizeof none);
}

lg_status lg_reader_system(lg_reader *reader, lg_system_info *ret_system)
{
    if (!reader || !ret_system)
        return LG_ERR_ARGUMENT;
    if (ret_system->size < FIRST_BYTES)
        return LG_ERR_OPTION;
    struct lg__system system;
    lg_status status = read_system(reader, &system);
    if (status != LG_OK)
        return status;
    const uint32_t size = ret_system->size;
    lg_system_info info;
    memset(&info, 0, sizeof info);
    info.size = size;
    info.parent_pid = system.parent_pid;
    lg__reader_text(info.kernel, sizeof info.kernel, system.kernel, sizeof system.kernel);
    lg__reader_text(info.hardware, sizeof info.hardware, system.hardware, sizeof system.hardware);
    lg__reader_text(info.model, sizeof info.model, system.machine.model, sizeof system.machine.model);
    lg__reader_text(info.os_id, sizeof info.os_id, system.machine.os_id, sizeof system.machine.os_id);
    lg__reader_text(info.os_version, sizeof info.os_version, system.machine.os_version, sizeof system.machine.os_version);
    id_text(info.machine, system.machine.id);
    id_text(info.invocation, system.invocation);
    lg__reader_text(info.unit, sizeof info.unit, system.unit, sizeof system.unit);
    lg__reader_text(info.parent_name, sizeof info.parent_name, system.parent_name, sizeof system.parent_name);
    lg__reader_text(info.container, sizeof info.container, system.container, sizeof system.container);
    info.command_line_size = system.command_line_size;
    info.command_line_cut = system.command_line_cut == 1;
    memcpy(info.command_line, system.command_line, system.command_line_size);
    memset(ret_system, 0, size);
    memcpy(ret_system, &info, size < sizeof info ? size : sizeof info);
    return LG_OK;
}
