#include "send/mailbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "process/agent_log.h"
#include "store/crc32c.h"

#define STATES 4
/* a later state wins over an earlier one */
static const lg_delivery_state states[STATES] = { LG_DELIVERY_SENT, LG_DELIVERY_DEAD, LG_DELIVERY_HELD, LG_DELIVERY_PENDING };

static uint64_t bytes_of(const struct mail *mail)
{
    return sizeof mail->header + (uint64_t)mail->header.brief_bytes + mail->header.full_bytes;
}

static struct mail *append(struct mailbox *mailbox, const struct mail *mail)
{
    if (mailbox->count == mailbox->room) {
        uint32_t room = mailbox->room ? 2 * mailbox->room : 64;
        struct mail *more = realloc(mailbox->mails, room * sizeof *more);
        if (!more)
            return NULL;
        mailbox->mails = more;
        mailbox->room = room;
    }
    mailbox->bytes += bytes_of(mail);
    mailbox->mails[mailbox->count] = *mail;
    return &mailbox->mails[mailbox->count++];
}

static void forget(struct mailbox *mailbox, struct mail *mail)
{
    mailbox->bytes -= bytes_of(mail);
    *mail = mailbox->mails[--mailbox->count];
}

bool mailbox_has(const struct mailbox *mailbox, lg_delivery_state state)
{
    for (uint32_t i = 0; i < mailbox->count; i++)
        if (mailbox->mails[i].state == state && !(mailbox->mails[i].header.flags & LG__REPORT_HEALTH))
            return true;
    return false;
}

uint32_t mailbox_reports(const struct mailbox *mailbox)
{
    uint32_t reports = 0;
    for (uint32_t i = 0; i < mailbox->count; i++)
        reports += !(mailbox->mails[i].header.flags & LG__REPORT_HEALTH);
    return reports;
}

struct mail *mailbox_find(struct mailbox *mailbox, const uint8_t uuid[16])
{
    for (uint32_t i = 0; i < mailbox->count; i++)
        if (memcmp(mailbox->mails[i].parts.uuid, uuid, 16) == 0)
            return &mailbox->mails[i];
    return NULL;
}

static int folder_of(const struct mailbox *mailbox, lg_delivery_state state)
{
    return mailbox->folders[state];
}

/* Give a file of a report another place, while the user permits that there is one. false: errno
 * says why not. */
static bool move_file(struct mailbox *mailbox, const struct mail *mail, int from, const char *name, lg_delivery_state to)
{
    if (!permit_take(&mailbox->permit, mail->parts.ordinal))
        return false;
    LG_FAULT_POINT("mailbox: may move");
    bool moved = renameat(from, name, folder_of(mailbox, to), mail->name) == 0;
    int error = errno;
    permit_return(&mailbox->permit);
    errno = error;
    return moved;
}

/* Take one file of a folder. A file that cannot be read is no reason to lose the others. */
static void take_file(struct mailbox *mailbox, lg_delivery_state state, const char *name)
{
    struct mail mail = { .state = state };
    if (name[0] == '.' || !lg__report_parse_name(name, &mail.parts))
        return;
    memcpy(mail.name, name, strlen(name) + 1);
    lg_status status = lg__report_read(folder_of(mailbox, state), name, &mail.header);
    if (status == LG_OK && memcmp(mail.header.uuid, mail.parts.uuid, 16) != 0)
        status = LG_ERR_DAMAGED;
    if (status == LG_ERR_DAMAGED && state != LG_DELIVERY_DEAD) {
        if (move_file(mailbox, &mail, folder_of(mailbox, state), name, LG_DELIVERY_DEAD)) {
            mailbox->damaged++;
            agent_log("report %s is damaged on the disk: kept in spool/dead", name);
        }
        return;
    }
    if (status != LG_OK)
        return;
    if (mailbox_find(mailbox, mail.parts.uuid)) {
        /* the report had moved on when an agent died */
        unlinkat(folder_of(mailbox, state), name, 0);
        return;
    }
    append(mailbox, &mail);
}

static void take_folder(struct mailbox *mailbox, lg_delivery_state state)
{
    int copy = openat(folder_of(mailbox, state), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    if (!stream) {
        if (copy >= 0)
            close(copy);
        return;
    }
    for (struct dirent *entry; (entry = readdir(stream));)
        take_file(mailbox, state, entry->d_name);
    closedir(stream);
}

static void clear_temporary(int spool)
{
    int folder = openat(spool, "tmp", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *stream = folder < 0 ? NULL : fdopendir(folder);
    if (!stream) {
        if (folder >= 0)
            close(folder);
        return;
    }
    /* Only reports: the program writes its own small files by way of this folder. */
    for (struct dirent *entry; (entry = readdir(stream));) {
        struct lg__report_name parts;
        if (lg__report_parse_name(entry->d_name, &parts))
            unlinkat(dirfd(stream), entry->d_name, 0);
    }
    closedir(stream);
}

void mailbox_refresh(struct mailbox *mailbox)
{
    mailbox->count = 0;
    mailbox->bytes = 0;
    for (int i = 0; i < STATES; i++)
        take_folder(mailbox, states[i]);
}

bool mailbox_open(int spool, struct mailbox *ret_mailbox)
{
    *ret_mailbox = (struct mailbox){ .spool = spool, .permit.spool = spool, .folders = { -1, -1, -1, -1, -1 } };
    for (int i = 0; i < STATES; i++) {
        int folder = openat(spool, lg__spool_folder(states[i]), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder < 0)
            return false;
        ret_mailbox->folders[states[i]] = folder;
    }
    clear_temporary(spool);
    mailbox_refresh(ret_mailbox);
    return true;
}

static bool write_all(int file, const void *bytes, size_t size)
{
    for (const char *at = bytes; size;) {
        ssize_t count = write(file, at, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        at += count;
        size -= (size_t)count;
    }
    return true;
}

/* A new file below tmp/; −1: errno says why there is none. */
static int make_file(struct mailbox *mailbox, const struct mail *mail, const char *temporary)
{
    unlinkat(mailbox->spool, temporary, 0);
    if (!permit_take(&mailbox->permit, mail->parts.ordinal))
        return -1;
    LG_FAULT_POINT("mailbox: may write");
    int file = openat(mailbox->spool, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int error = errno;
    permit_return(&mailbox->permit);
    errno = error;
    return file;
}

/* Write a whole file below tmp/ and move it to its folder. The user may withhold consent in
 * between: then the file is gone, and nothing moves. */
static bool store_file(struct mailbox *mailbox, const struct mail *mail, const char *brief, const char *full)
{
    char temporary[LG__REPORT_NAME_BYTES + 8];
    snprintf(temporary, sizeof temporary, "tmp/%s", mail->name);
    int file = make_file(mailbox, mail, temporary);
    if (file < 0)
        return false;
    LG_FAULT_POINT("mailbox: file made");
    bool written = write_all(file, &mail->header, sizeof mail->header) && write_all(file, brief, mail->header.brief_bytes) &&
                   write_all(file, full, mail->header.full_bytes) && fsync(file) == 0;
    int error = errno;
    close(file);
    LG_FAULT_POINT("mailbox: file written");
    if (written && move_file(mailbox, mail, mailbox->spool, temporary, mail->state)) {
        fsync(folder_of(mailbox, mail->state));
        LG_FAULT_POINT("mailbox: file moved");
        return true;
    }
    error = written ? errno : error;
    unlinkat(mailbox->spool, temporary, 0);
    errno = error;
    return false;
}

struct mail *mailbox_add(struct mailbox *mailbox, const struct lg__report_name *parts, const struct lg__report_header *header,
                         const char *brief, size_t brief_bytes, const char *full, size_t full_bytes)
{
    struct mail mail = { .state = LG_DELIVERY_PENDING, .parts = *parts, .header = *header };
    struct lg__report_header *own = &mail.header;
    if (brief_bytes > LG__REPORT_BRIEF_MAX || full_bytes > LG__REPORT_FULL_MAX) {
        errno = EFBIG;
        return NULL;
    }
    lg__report_name(parts, mail.name);
    memcpy(own->magic, LG__MAGIC_REPORT, sizeof own->magic);
    own->major = LG__REPORT_MAJOR;
    own->minor = LG__REPORT_MINOR;
    own->header_bytes = sizeof *own;
    own->brief_bytes = (uint32_t)brief_bytes;
    own->full_bytes = (uint32_t)full_bytes;
    own->body_crc = lg__crc32c(lg__crc32c(0, brief, brief_bytes), full, full_bytes);
    memcpy(own->uuid, parts->uuid, sizeof own->uuid);
    own->ordinal = parts->ordinal;
    lg__report_seal(own);
    return store_file(mailbox, &mail, brief, full) ? append(mailbox, &mail) : NULL;
}

bool mailbox_update(struct mailbox *mailbox, struct mail *mail)
{
    lg__report_seal(&mail->header);
    int file = openat(folder_of(mailbox, mail->state), mail->name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return false;
    bool written = pwrite(file, &mail->header, sizeof mail->header, 0) == (ssize_t)sizeof mail->header;
    int error = errno;
    close(file);
    LG_FAULT_POINT("mailbox: header written");
    errno = error;
    return written;
}

static bool leave_parts(struct mailbox *mailbox, struct mail *mail)
{
    struct mail sent = *mail;
    sent.state = LG_DELIVERY_SENT;
    sent.header.brief_bytes = sent.header.full_bytes = sent.header.full_taken = 0;
    sent.header.body_crc = 0;
    lg__report_seal(&sent.header);
    if (!store_file(mailbox, &sent, "", ""))
        return false;
    /* In both folders now: the one in sent/ counts. */
    unlinkat(folder_of(mailbox, mail->state), mail->name, 0);
    mailbox->bytes -= bytes_of(mail) - bytes_of(&sent);
    *mail = sent;
    return true;
}

bool mailbox_move(struct mailbox *mailbox, struct mail *mail, lg_delivery_state state)
{
    if (state == LG_DELIVERY_SENT)
        return leave_parts(mailbox, mail);
    if (!mailbox_update(mailbox, mail) || !move_file(mailbox, mail, folder_of(mailbox, mail->state), mail->name, state))
        return false;
    fsync(folder_of(mailbox, state));
    LG_FAULT_POINT("mailbox: report moved");
    mail->state = state;
    return true;
}

void mailbox_drop(struct mailbox *mailbox, struct mail *mail)
{
    unlinkat(folder_of(mailbox, mail->state), mail->name, 0);
    forget(mailbox, mail);
}

char *mailbox_read(const struct mailbox *mailbox, const struct mail *mail)
{
    size_t size = (size_t)mail->header.brief_bytes + mail->header.full_bytes;
    char *bytes = malloc(size + 1);
    int file = openat(folder_of(mailbox, mail->state), mail->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool whole = bytes && file >= 0 && pread(file, bytes, size, (off_t)sizeof mail->header) == (ssize_t)size &&
                 lg__crc32c(0, bytes, size) == mail->header.body_crc;
    if (file >= 0)
        close(file);
    if (!whole) {
        free(bytes);
        return NULL;
    }
    bytes[size] = 0;
    return bytes;
}
