#include "send/hint_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hint/document.h"
#include "hint/signature.h"
#include "os/fault_point.h"
#include "policy/hint.h"
#include "process/agent_log.h"
#include "store/crc32c.h"
#include "store/digest.h"

/* The end of a ledger's hot page that the agent needs. */
struct facts {
    struct lg__found_machine machine;
    struct lg__hint hint;
};
#define FACTS_AT (LG__HINT_AT - sizeof(struct lg__found_machine))
static_assert(offsetof(struct facts, hint) == sizeof(struct lg__found_machine), "they stand side by side");

/* The ledger of the directory, in PATH_MAX bytes; false: the path is too long. */
static bool path_of(const char *state_directory, char ret_path[PATH_MAX])
{
    const int length = snprintf(ret_path, PATH_MAX, "%s/ledger.lg", state_directory);
    return length > 0 && length < PATH_MAX;
}

/* The application that the ledger belongs to; false: there is no ledger. */
static bool read_app(const char *state_directory, char ret_app[LG__NAME_BYTES])
{
    char path[PATH_MAX];
    lg_reader *reader;
    lg_ledger_info info;
    if (!path_of(state_directory, path) || lg_reader_open(path, &reader) != LG_OK)
        return false;
    const bool is_ledger = lg_reader_ledger(reader, &info) == LG_OK;
    lg_reader_close(reader);
    if (is_ledger)
        memcpy(ret_app, info.app_id, LG__NAME_BYTES);
    return is_ledger;
}

/* Returns a descriptor; −1: there is no such file. */
static int open_ledger(const char *state_directory, struct facts *ret_facts)
{
    char path[PATH_MAX];
    struct stat stat;
    const int file = path_of(state_directory, path) ? open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK) : -1;
    if (file < 0)
        return -1;
    if (fstat(file, &stat) != 0 || !S_ISREG(stat.st_mode) || stat.st_uid != geteuid() ||
        pread(file, ret_facts, sizeof *ret_facts, FACTS_AT) != (ssize_t)sizeof *ret_facts) {
        close(file);
        return -1;
    }
    if (!lg__hint_is_whole(&ret_facts->hint))
        memset(&ret_facts->hint, 0, sizeof ret_facts->hint);
    return file;
}

static bool store(int file, struct lg__hint *hint)
{
    hint->crc = lg__hint_crc(hint);
    const bool stored = pwrite(file, hint, sizeof *hint, LG__HINT_AT) == (ssize_t)sizeof *hint && fdatasync(file) == 0;
    LG_FAULT_POINT("agent: hint stored");
    return stored;
}

/* The key of the configuration, and its digest. */
static bool read_key(const struct lg__delivery_config *config, uint8_t ret_key[LG__HINT_KEY_BYTES], uint8_t ret_digest[16])
{
    static const uint8_t none[16];
    if (!config->hint_key[0] || !lg__hint_key(config->hint_key, ret_key))
        return false;
    lg__digest_keyed(none, (const char *)ret_key, LG__HINT_KEY_BYTES, ret_digest);
    return true;
}

static void read_device(const struct lg__found_machine *machine, char ret_device[33])
{
    const uint32_t crc = lg__crc32c(0, machine->boot_id, sizeof *machine - offsetof(struct lg__found_machine, boot_id));
    ret_device[0] = 0;
    for (size_t i = 0; i < sizeof machine->machine.id && crc == machine->crc; i++)
        snprintf(ret_device + 2 * i, 3, "%02x", machine->machine.id[i]);
}

void hint_file_take(const char *state_directory, const struct lg__delivery_config *config, const char *header, struct moment now)
{
    static const char *const why[] = { [HINT_KNOWN] = NULL, [HINT_OLD] = "its serial is older than that of the last one", [HINT_EXPIRED] = "it has expired",
                                       [HINT_OTHER_APP] = "it is for another application", [HINT_OTHER_DEVICE] = "it is for another device" };
    uint8_t key[LG__HINT_KEY_BYTES];
    char text[HINT_DOCUMENT_MAX + 1], app[LG__NAME_BYTES], device[33], words[256];
    struct hint_document document;
    struct hint_place place = { .app = app, .device = device };
    struct facts facts;
    size_t size;
    if (!read_key(config, key, place.key))
        return; /* never without a key */
    const char *wrong = signature_check(header, key, text, &size);
    if (!wrong)
        wrong = document_parse(text, size, &document);
    if (wrong) {
        agent_log("a hint of the vendor is refused: %s", wrong);
        return;
    }
    const int ledger = read_app(state_directory, app) ? open_ledger(state_directory, &facts) : -1;
    if (ledger < 0) {
        agent_log("a hint of the vendor is lost: there is no ledger");
        return;
    }
    read_device(&facts.machine, device);
    const enum hint_verdict verdict = hint_judge(&facts.hint, document.app, document.device, &document.said, &place, now);
    document_words(&document.said, words, sizeof words);
    if (verdict != HINT_TAKEN && why[verdict])
        agent_log("hint %u of the vendor is refused: %s", document.said.serial, why[verdict]);
    else if (verdict == HINT_TAKEN && store(ledger, &facts.hint))
        agent_log("hint %u of the vendor: %s", document.said.serial, words);
    else if (verdict == HINT_TAKEN)
        agent_log("hint %u of the vendor cannot be stored: %s", document.said.serial, strerror(errno));
    close(ledger);
}

void hint_file_look(const char *state_directory, const struct lg__delivery_config *config, struct moment now)
{
    static bool said;
    uint8_t key[LG__HINT_KEY_BYTES], digest[16];
    struct facts facts;
    const bool has_key = read_key(config, key, digest);
    if (has_key && !signature_is_possible() && !said)
        agent_log("hint_key has no effect: this agent was built without OpenSSL");
    said = has_key;
    const int ledger = open_ledger(state_directory, &facts);
    if (ledger < 0)
        return;
    const uint32_t serial = facts.hint.said.serial;
    if (serial && hint_withdraw(&facts.hint, has_key ? digest : NULL, now) && store(ledger, &facts.hint))
        agent_log("hint %u of the vendor is over", serial);
    close(ledger);
}
