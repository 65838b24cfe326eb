/* Layer 1: a report in the spool, and the table of the fingerprints. */
#ifndef LG_STORE_FORMAT_REPORT_H
#define LG_STORE_FORMAT_REPORT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Report: this header, then `brief_bytes` and `full_bytes` of JSON, or of a minidump ---- */

#define LG__MAGIC_REPORT "LGREPORT"
#define LG__REPORT_MAJOR 1
#define LG__REPORT_MINOR 0
#define LG__REPORT_ERROR_BYTES 160
#define LG__REPORT_BRIEF_MAX 4096u
#define LG__REPORT_FULL_MAX (UINT32_C(4) << 20)

/* Flags. */
#define LG__REPORT_BRIEF_SENT 1u /* the first part had its positive answer */
#define LG__REPORT_FULL_SENT 2u  /* the second part had its positive answer, or is not to be sent */
#define LG__REPORT_LEFT 4u       /* bytes of it may have left: it stands for no further run */
#define LG__REPORT_DUMP 8u       /* the second part is a minidump */
#define LG__REPORT_HEALTH 16u    /* no report: a count of runs, for release health */

/* A moment to come, which has come when one of two clocks says so: CLOCK_REALTIME, which may be
 * wrong and jumps, and the time that the device was on (lg__server). Both 0: now. */
struct lg__due {
    uint64_t wall_ns;
    uint64_t on_ns;
};

struct lg__report_header {
    char magic[8];
    uint16_t major, minor;
    uint32_t header_bytes;  /* of this struct */
    uint8_t uuid[16];       /* identity of the report */
    uint8_t run_uuid[16];
    uint8_t fingerprint[16];
    uint64_t ordinal;       /* of the run */
    uint64_t made_ns;       /* CLOCK_REALTIME, as all times here but `on` ones */
    uint32_t end;           /* lg_end */
    uint32_t brief_bytes;
    uint32_t full_bytes;
    uint32_t body_crc;      /* CRC-32C of both parts */
    /* runs that have no report of their own, for which this one stands */
    uint64_t more;
    uint64_t more_first_ns; /* when the first of them ended; 0: none */
    uint64_t more_last_ns;  /* and the last */
    /* the rest changes while it is delivered */
    uint32_t flags;
    uint32_t attempts;      /* requests; each one is counted before it is made */
    int32_t http_status;    /* of the last answer; 0: none */
    uint32_t failures;      /* attempts in a row that ended the agent, or in no refusal, as 503 */
    uint64_t since_on_ns;   /* its age begins; time that the device was on */
    uint64_t attempted_ns;  /* last attempt; 0: none */
    struct lg__due next;    /* earliest next attempt */
    uint8_t config[16];     /* digest of the settings of the last attempt; zeros: there was none */
    char error[LG__REPORT_ERROR_BYTES];
    uint64_t more_ordinal;  /* of the run that was counted last; 0: none */
    uint32_t denials;       /* refusals for another reason than its body, as 403 */
    uint32_t refusals;      /* of its body, as 400, each on a day of its own */
    struct lg__due refusal; /* earliest moment when one counts again */
    uint64_t delivered;     /* lg__server.delivered at the first denial or refusal */
    uint32_t before;        /* reports of this fingerprint, each made within a day of the next */
    uint32_t full_taken;    /* bytes of the second part that had their positive answer */
    uint64_t settled_ns;    /* it was sent or given up; 0: it was not */
    uint64_t told_ns;       /* on_delivered was called for it; 0: it was not; by the program */
    uint8_t reserved[44];
    uint32_t crc;           /* CRC-32C of all bytes before it */
};
static_assert(offsetof(struct lg__report_header, uuid) == 16, "FORMAT.md, report");
static_assert(offsetof(struct lg__report_header, run_uuid) == 32, "FORMAT.md, report");
static_assert(offsetof(struct lg__report_header, fingerprint) == 48, "FORMAT.md, report");
static_assert(offsetof(struct lg__report_header, ordinal) == 64, "FORMAT.md, report");
static_assert(offsetof(struct lg__report_header, made_ns) == 72, "FORMAT.md, report");
static_assert(offsetof(struct lg__report_header, end) == 80, "FORMAT.md, report");
static_assert(offsetof(struct lg__report_header, body_crc) == 92, "FORMAT.md, report");
static_assert(offsetof(struct lg__report_header, more) == 96, "FORMAT.md, report");
static_assert(offsetof(struct lg__report_header, flags) == 120, "FORMAT.md, report");
static_assert(offsetof(struct lg__report_header, since_on_ns) == 136, "FORMAT.md, report");
static_assert(offsetof(struct lg__report_header, next) == 152, "FORMAT.md, report");
static_assert(offsetof(struct lg__report_header, config) == 168, "FORMAT.md, report");
static_assert(offsetof(struct lg__report_header, error) == 184, "FORMAT.md, report");
static_assert(offsetof(struct lg__report_header, more_ordinal) == 344, "FORMAT.md, report");
static_assert(offsetof(struct lg__report_header, refusal) == 360, "FORMAT.md, report");
static_assert(offsetof(struct lg__report_header, delivered) == 376, "FORMAT.md, report");
static_assert(offsetof(struct lg__report_header, full_taken) == 388, "FORMAT.md, report");
static_assert(offsetof(struct lg__report_header, settled_ns) == 392, "FORMAT.md, report");
static_assert(offsetof(struct lg__report_header, told_ns) == 400, "FORMAT.md, report");
static_assert(offsetof(struct lg__report_header, crc) == 452, "FORMAT.md, report");
static_assert(sizeof(struct lg__report_header) == 456, "FORMAT.md, report");

/* ---- Server: what the agent knows of it, and the clock of the spool ---- */

#define LG__MAGIC_SERVER "LGSERVER"

/* Why a server gets no compressed body. */
enum lg__plain {
    LG__PLAIN_NOT,        /* it gets them, where its kind takes them */
    LG__PLAIN_REFUSED,    /* it refused one */
    LG__PLAIN_TAKEN,      /* it took the plain one then */
    LG__PLAIN_UNANSWERED, /* an agent died with one on its way */
};

struct lg__server {
    char magic[8];
    uint8_t config[16];     /* digest of the settings that name it */
    struct lg__due next;    /* no request before that */
    uint32_t pause;         /* lg_delivery_pause: why not; one of the server's own */
    uint32_t failures;      /* in a row, without a verdict */
    uint64_t failing_on_ns; /* when they began; time that the device was on */
    uint64_t delivered;     /* positive answers with these settings */
    /* The time that the device was on, while there was a spool: `on_ns` at `steady_ns` of
     * CLOCK_MONOTONIC in the boot `boot`. */
    uint8_t boot[16];
    uint64_t on_ns;
    uint64_t steady_ns;
    uint32_t absences;      /* attempts in a row that did not reach it */
    uint32_t plain;         /* lg__plain */
    struct lg__due day;     /* end of the day of the budget */
    uint64_t day_bytes;     /* spent in it */
    uint32_t reserved1;
    uint32_t crc;           /* CRC-32C of all bytes before it */
};
static_assert(offsetof(struct lg__server, next) == 24, "FORMAT.md, server");
static_assert(offsetof(struct lg__server, failing_on_ns) == 48, "FORMAT.md, server");
static_assert(offsetof(struct lg__server, boot) == 64, "FORMAT.md, server");
static_assert(offsetof(struct lg__server, day) == 104, "FORMAT.md, server");
static_assert(offsetof(struct lg__server, crc) == 132, "FORMAT.md, server");
static_assert(sizeof(struct lg__server) == 136, "FORMAT.md, server");

/* ---- Tally: runs that gave way before they had a report, one row a fingerprint ---- */

#define LG__MAGIC_TALLY "LGTALLY1"
#define LG__TALLY_ROWS 64

struct lg__tally_row {
    uint8_t fingerprint[16];
    uint64_t count;     /* 0: the row is free */
    uint64_t first_ns;  /* CLOCK_REALTIME of the starts of the first and the last of them */
    uint64_t last_ns;
    uint64_t ordinal;   /* of the last */
    uint8_t uuid[16];   /* of the last */
    uint32_t end;       /* lg_end of the last */
    uint32_t crc;       /* CRC-32C of all bytes before it */
};
static_assert(offsetof(struct lg__tally_row, uuid) == 48, "FORMAT.md, tally");
static_assert(offsetof(struct lg__tally_row, end) == 64, "FORMAT.md, tally");
static_assert(sizeof(struct lg__tally_row) == 72, "FORMAT.md, tally");

struct lg__tally {
    char magic[8];
    uint32_t reserved[2];
    struct lg__tally_row rows[LG__TALLY_ROWS]; /* the last one counts for all that found no row */
};
static_assert(offsetof(struct lg__tally, rows) == 16, "FORMAT.md, tally");
static_assert(sizeof(struct lg__tally) == 4624, "FORMAT.md, tally");

#endif
