/* The texts and files that the agent reads: the configuration, names and headers of reports, the
 * credential file, what servers say about waiting, hints of the vendor. Damaged at random, under
 * sanitizers; what is accepted must keep its bounds.
 *
 *   fuzz-delivery ROUNDS */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hint/document.h"
#include "hint/signature.h"
#include "send/credentials.h"
#include "policy/fate.h"
#include "send/retry.h"
#include "seeds.h"
#include "store/crc32c.h"
#include "store/delivery_config.h"
#include "store/spool.h"

void request_free(struct request *request);
void request_free(struct request *request)
{
    (void)request;
}

static uint64_t state, seed;

static uint64_t chance(uint64_t below)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (state * UINT64_C(2685821657736338717) >> 16) % below;
}

static const char *const words[] = {
    "launchguard-delivery 1\n", "target=http\n", "target=", "endpoint=https://a.example/x\n", "ends=crash,killed,unknown-in-launch\n",
    "keep_reports=64\n", "keep_bytes=18446744073709551615\n", "keep_bytes=99999999999999999999\n", "brief=1\n", "brief=2\n", "=", "\n",
    "credential_file=/x\n", ",", "given ", "none ", "0", "Retry-After", "120", "Wed, 21 Oct 2026 07:28:00 GMT", "60:error;default:organization",
    "2700:default;attachment:organization:quota, ", ":", ";", "Authorization: Bearer x\n", "endpoint: https://b.example/\n", "# c\n", " ", "\t",
    "0-00000000000000000007-01020304-0506-4708-890a-0b0c0d0e0f10.lgreport", "18446744073709551616",
};
#define WORDS (sizeof words / sizeof words[0])

/* A text of those words, with some bytes wrong. */
static size_t make_text(char *buffer, size_t room)
{
    size_t size = 0;
    for (uint64_t count = chance(12); count > 0; count--) {
        const char *word = words[chance(WORDS)];
        size_t length = strlen(word);
        if (size + length >= room)
            break;
        memcpy(buffer + size, word, length);
        size += length;
    }
    for (uint64_t count = size ? chance(4) : 0; count > 0; count--)
        buffer[chance(size)] = (char)chance(256);
    if (size && !chance(4))
        size = chance(size);
    buffer[size] = 0;
    return size;
}

static void require(bool holds, const char *what, const char *text)
{
    if (holds)
        return;
    fprintf(stderr, "%s: \"%s\"\n%s\n", what, text, repeat_command(seed));
    abort();
}

static unsigned accepted;

static void try_texts(const char *text)
{
    struct lg__delivery_config config, again;
    struct lg__report_name name;
    char wrong[128], copy[LG__CONFIG_MAX], same[LG__REPORT_NAME_BYTES];
    uint64_t pause;
    char with_head[LG__CONFIG_MAX];
    snprintf(with_head, sizeof with_head, "launchguard-delivery 1\ntarget=otlp\n%s", text);
    for (int i = 0; i < 2; i++)
        if (lg__delivery_config_parse(i ? with_head : text, &config, wrong)) {
            accepted++;
            require(config.options.target >= LG_TARGET_HTTP && config.options.target <= LG_TARGET_MINIDUMP && config.options.keep_reports && config.options.keep_reports <= 4096 &&
                        config.options.keep_bytes >= 65536, "a configuration out of bounds", text);
            size_t size = lg__delivery_config_format(&config, copy, sizeof copy);
            require(!size || (lg__delivery_config_parse(copy, &again, wrong) && strcmp(again.endpoint, config.endpoint) == 0 && again.options.ends == config.options.ends),
                    "a configuration does not come back", text);
        }
    if (lg__report_parse_name(text, &name)) {
        accepted++;
        lg__report_name(&name, same);
        require(strcmp(same, text) == 0, "a name does not come back", text);
    }
    if (retry_after(text, 1790000000, &pause))
        require(pause <= PAUSE_MAX_NS, "a pause without bound", text);
    if (retry_rate_limits(text, &pause))
        require(pause <= PAUSE_MAX_NS, "a pause without bound", text);
}

static const char *const members[] = {
    "\"app\":\"a\"", "\"device\":\"0123456789abcdef0123456789abcdef\"", "\"context\":\"main\"", "\"serial\":7", "\"serial\":-1", "\"expires\":1790000000",
    "\"expires\":9223372036854775807", "\"leave_out\":\"maps\"", "\"repair\":\"reset\"", "\"safe_mode\":true", "\"hold_below\":\"2.4\"", "\"withdraw\":true",
    "\"leave_out\":\"0123456789012345678901234567890123456789012345678901234567890123\"", "\"x\":{\"y\":[1,2.5e300,null]}", "\"app\":null",
};

/* Some members, most often those that each document has. */
static void try_documents(void)
{
    char text[HINT_DOCUMENT_MAX + 1] = "{";
    struct hint_document document;
    size_t size = 1;
    for (uint64_t count = 3 + chance(4), i = 0; i < count; i++) {
        static const unsigned often[] = { 0, 3, 5 };
        const char *member = members[i < 3 && chance(8) ? often[i] : chance(sizeof members / sizeof members[0])];
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%s", i ? "," : "", member);
    }
    size += (size_t)snprintf(text + size, sizeof text - size, "}");
    if (!chance(4))
        text[chance(size)] = (char)chance(256);
    if (document_parse(text, size, &document))
        return;
    accepted++;
    struct lg__hint hint = { .said = document.said };
    hint.crc = lg__hint_crc(&hint);
    require(lg__hint_is_whole(&hint) && document.app[0] && memchr(document.app, 0, sizeof document.app) && memchr(document.device, 0, sizeof document.device),
            "a hint out of bounds", text);
    ((char *)&hint)[chance(sizeof hint)] ^= (char)(1 + chance(255));
    require(!lg__hint_is_whole(&hint), "a damaged hint counts", text);
}

/* No signature is right; nothing but the buffers can go wrong. */
static void try_headers(const char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_..=+";
    uint8_t key[LG__HINT_KEY_BYTES] = { 1 };
    char header[HINT_HEADER_ROOM], document[HINT_DOCUMENT_MAX + 1];
    size_t size = chance(sizeof header), whole;
    for (size_t i = 0; i < size; i++)
        header[i] = digits[chance(chance(8) ? 64 : sizeof digits - 1)];
    header[size] = 0;
    if (size > 90 && chance(2))
        header[size - 87] = '.'; /* 64 bytes after it */
    require(signature_check(header, key, document, &whole) != NULL, "a signature is right", header);
    lg__hint_key(text, key);
    header[size % LG__HINT_KEY_TEXT] = 0;
    accepted += lg__hint_key(header, key);
}

static void put(int folder, const char *name, const void *bytes, size_t size)
{
    int file = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size)
        abort();
    close(file);
}

static void try_files(int folder, const char *path, const char *text, size_t size)
{
    struct credentials credentials;
    struct lg__report_header header = { .major = 1, .header_bytes = sizeof header, .brief_bytes = 5 }, read;
    char why[LG__REPORT_ERROR_BYTES], file[4200], bytes[sizeof header + 5];
    put(folder, "consent", text, size);
    put(folder, "secret", text, size);
    if (lg__consent_read(folder).given)
        accepted++;
    snprintf(file, sizeof file, "%s/secret", path);
    if (credentials_read(file, &credentials, why))
        credentials_free(&credentials);
    memcpy(header.magic, LG__MAGIC_REPORT, sizeof header.magic);
    lg__report_seal(&header);
    memcpy(bytes, &header, sizeof header);
    memset(bytes + sizeof header, 'x', 5);
    for (uint64_t count = chance(4); count > 0; count--)
        bytes[chance(sizeof header)] = (char)chance(256);
    if (chance(2)) { /* damage that the checksum does not show */
        memcpy(&header, bytes, sizeof header);
        header.crc = lg__crc32c(0, &header, offsetof(struct lg__report_header, crc));
        memcpy(bytes, &header, sizeof header);
    }
    put(folder, "report", bytes, chance(8) ? sizeof bytes : chance(sizeof bytes));
    if (lg__report_read(folder, "report", &read) == LG_OK) {
        accepted++;
        require(read.brief_bytes <= LG__REPORT_BRIEF_MAX && read.full_bytes <= LG__REPORT_FULL_MAX && memchr(read.error, 0, sizeof read.error),
                "a header out of bounds", "");
    }
}

int main(int count, char **arguments)
{
    unsigned long rounds = count > 1 ? strtoul(arguments[1], NULL, 10) : 1000;
    char path[] = "/tmp/fuzz-delivery-XXXXXX", text[2048];
    if (!mkdtemp(path))
        return 1;
    int folder = open(path, O_RDONLY | O_DIRECTORY);
    lg__crc32c_init();
    for (unsigned long i = 0; seed_of_round(i, rounds, &seed); i++) {
        state = mix_seed(seed);
        size_t size = make_text(text, sizeof text);
        try_texts(text);
        try_documents();
        try_headers(text);
        if (i % 8 == 0)
            try_files(folder, path, text, size);
    }
    static const char *const names[] = { "consent", "secret", "report" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlinkat(folder, names[i], 0);
    close(folder);
    rmdir(path);
    printf("%lu rounds, %u texts and files accepted\n", rounds, accepted);
    return accepted ? 0 : 1;
}
