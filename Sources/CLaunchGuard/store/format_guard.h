/* Layer 1: the run file's section of guard events. */
#ifndef LG_STORE_FORMAT_GUARD_H
#define LG_STORE_FORMAT_GUARD_H

#include "store/format_header.h"

#define LG__GUARD_SITES 32 /* the first one counts the events that found no site of their own */
#define LG__GUARD_TEXT_BYTES 160
#define LG__GUARD_FIELDS 4
#define LG__GUARD_FIELD_BYTES 64
#define LG__GUARD_FRAMES 32
#define LG__COMMIT_GUARD UINT32_C(0x53455447) /* "GTES" in the file */

struct lg__guard_field {
    char key[LG__GUARD_FIELD_BYTES];
    char value[LG__GUARD_FIELD_BYTES];
};
static_assert(sizeof(struct lg__guard_field) == 128, "FORMAT.md, guards");

/* The fields after `commit` describe the first event and are written once; the counts are always
 * current. */
struct lg__guard_site {
    /* address, and class in the upper 8 bits; 0: free; of the first site: never set */
    _Atomic uint64_t key;
    _Atomic uint64_t count;    /* events */
    _Atomic uint64_t survived; /* of them */
    _Atomic uint64_t last_ns;  /* CLOCK_MONOTONIC of the last one */
    _Atomic uint32_t action;   /* lg_guard_action of the last one */
    _Atomic uint32_t commit;   /* LG__COMMIT_GUARD when the rest is whole, written last */
    uint32_t crc;              /* CRC-32C of all bytes after it */
    uint32_t guard_class;      /* lg_guard_class */
    uint64_t first_ns;         /* CLOCK_MONOTONIC of the first event */
    int32_t tid;
    uint32_t frame_count;
    char thread_name[16];
    uint32_t field_count;
    uint32_t reserved0;
    uint64_t reserved1;
    char text[LG__GUARD_TEXT_BYTES];
    struct lg__guard_field fields[LG__GUARD_FIELDS];
    uint64_t frames[LG__GUARD_FRAMES];
};
static_assert(offsetof(struct lg__guard_site, count) == 8, "FORMAT.md, guards");
static_assert(offsetof(struct lg__guard_site, survived) == 16, "FORMAT.md, guards");
static_assert(offsetof(struct lg__guard_site, last_ns) == 24, "FORMAT.md, guards");
static_assert(offsetof(struct lg__guard_site, action) == 32, "FORMAT.md, guards");
static_assert(offsetof(struct lg__guard_site, commit) == 36, "FORMAT.md, guards");
static_assert(offsetof(struct lg__guard_site, crc) == 40, "FORMAT.md, guards");
static_assert(offsetof(struct lg__guard_site, guard_class) == 44, "FORMAT.md, guards");
static_assert(offsetof(struct lg__guard_site, first_ns) == 48, "FORMAT.md, guards");
static_assert(offsetof(struct lg__guard_site, tid) == 56, "FORMAT.md, guards");
static_assert(offsetof(struct lg__guard_site, frame_count) == 60, "FORMAT.md, guards");
static_assert(offsetof(struct lg__guard_site, thread_name) == 64, "FORMAT.md, guards");
static_assert(offsetof(struct lg__guard_site, field_count) == 80, "FORMAT.md, guards");
static_assert(offsetof(struct lg__guard_site, text) == 96, "FORMAT.md, guards");
static_assert(offsetof(struct lg__guard_site, fields) == 256, "FORMAT.md, guards");
static_assert(offsetof(struct lg__guard_site, frames) == 768, "FORMAT.md, guards");
static_assert(sizeof(struct lg__guard_site) == 1024, "FORMAT.md, guards");

struct lg__guards {
    _Atomic uint64_t events;     /* of all sites */
    _Atomic uint64_t survived;   /* of them; not 0: the run is degraded */
    _Atomic uint32_t site_bytes; /* sizeof(struct lg__guard_site); 0: guards were never started */
    uint32_t site_count;         /* LG__GUARD_SITES, written before site_bytes */
    uint8_t reserved[40];
    struct lg__guard_site sites[LG__GUARD_SITES];
};
static_assert(offsetof(struct lg__guards, survived) == 8, "FORMAT.md, guards");
static_assert(offsetof(struct lg__guards, site_bytes) == 16, "FORMAT.md, guards");
static_assert(offsetof(struct lg__guards, site_count) == 20, "FORMAT.md, guards");
static_assert(offsetof(struct lg__guards, sites) == 64, "FORMAT.md, guards");
static_assert(sizeof(struct lg__guards) == 32832, "FORMAT.md, guards");

#endif
