/* Layer 1: the begin of both kinds of file; the rules for all of them are in store/format.h. */
#ifndef LG_STORE_FORMAT_HEADER_H
#define LG_STORE_FORMAT_HEADER_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "The file format is little-endian, and so is every processor that LaunchGuard supports."
#endif

#define LG__RUN_MAJOR 1
#define LG__RUN_MINOR 0
#define LG__LEDGER_MAJOR 1
#define LG__LEDGER_MINOR 0
#define LG__BYTE_ORDER_MARK UINT32_C(0x01020304)

#define LG__MAGIC_RUN "\x89LGR\r\n\x1a\n"
#define LG__MAGIC_LEDGER "\x89LGL\r\n\x1a\n"

#define LG__NAME_BYTES 64
#define LG__BUILD_ID_BYTES 32
#define LG__SECTIONS_MAX 18 /* a run file of this version uses 16 */

/* ---- Section 1: the header, at offset 0 of both kinds of file ---- */

enum lg__section_kind {
    LG__SECTION_IDENTITY = 1,
    LG__SECTION_STATE = 2,
    LG__SECTION_MODULES = 3,
    LG__SECTION_RECORD = 4,
    LG__SECTION_RING = 5,
    LG__SECTION_THREADS = 6,
    LG__SECTION_STACKS = 7,
    LG__SECTION_TAIL = 8,
    LG__SECTION_OWNERS = 9,
    LG__SECTION_PULSE = 10,
    LG__SECTION_SNAPSHOTS = 11,
    LG__SECTION_ANNOTATIONS = 12,
    LG__SECTION_BRIEFS = 13,
    LG__SECTION_SYSTEM = 14,
    LG__SECTION_MEMORY_SNAPSHOT = 15,
    LG__SECTION_HOT = 16,
    LG__SECTION_SLOT_A = 17,
    LG__SECTION_SLOT_B = 18,
    LG__SECTION_GUARDS = 19
};

struct lg__section {
    uint32_t kind; /* enum lg__section_kind; a reader passes over kinds that it does not know */
    uint32_t reserved;
    uint64_t offset; /* from the start of the file, a multiple of 64 */
    uint64_t size;
};
static_assert(sizeof(struct lg__section) == 24, "FORMAT.md, header");

struct lg__header {
    uint8_t magic[8];
    uint32_t byte_order; /* LG__BYTE_ORDER_MARK */
    uint16_t major;      /* a reader refuses a larger one */
    uint16_t minor;      /* a larger one only adds */
    uint32_t header_bytes; /* size of this structure, its CRC included */
    uint32_t compat_flags;   /* unknown bit: read on */
    uint32_t incompat_flags; /* unknown bit: stop */
    uint32_t section_count;
    uint64_t total_bytes; /* size of the file */
    uint8_t reserved[24];
    struct lg__section sections[LG__SECTIONS_MAX];
    uint32_t crc; /* CRC-32C of all bytes before it */
    uint32_t padding;
};
static_assert(offsetof(struct lg__header, byte_order) == 8, "FORMAT.md, header");
static_assert(offsetof(struct lg__header, major) == 12, "FORMAT.md, header");
static_assert(offsetof(struct lg__header, minor) == 14, "FORMAT.md, header");
static_assert(offsetof(struct lg__header, header_bytes) == 16, "FORMAT.md, header");
static_assert(offsetof(struct lg__header, compat_flags) == 20, "FORMAT.md, header");
static_assert(offsetof(struct lg__header, incompat_flags) == 24, "FORMAT.md, header");
static_assert(offsetof(struct lg__header, section_count) == 28, "FORMAT.md, header");
static_assert(offsetof(struct lg__header, total_bytes) == 32, "FORMAT.md, header");
static_assert(offsetof(struct lg__header, sections) == 64, "FORMAT.md, header");
static_assert(offsetof(struct lg__header, crc) == 496, "FORMAT.md, header");
static_assert(sizeof(struct lg__header) == 504, "FORMAT.md, header");

#endif
