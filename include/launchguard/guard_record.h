/** Reader: the guard events of a run, by the place where they happened.
 *
 *  The rules of reader.h hold here as well, and its library has the functions. The reader returns
 *  no data whose checksum or bounds are wrong. Strings must be escaped before a terminal shows
 *  them.
 */
#ifndef LAUNCHGUARD_GUARD_RECORD_H
#define LAUNCHGUARD_GUARD_RECORD_H

#include <launchguard/guard.h>
#include <launchguard/reader.h>

/** Guard events of a run. The counts are always current: those of a program that was killed are as
 *  right as those of one that ended in peace. */
typedef struct lg_guards_info {
    uint64_t events;          /**< of all sites */
    uint64_t survived;        /**< of them; not 0: the run is degraded */
    uint32_t sites;           /**< sites that have events, those of site 0 among them */
} lg_guards_info;

/** The events of one site. The counts and the action are always current. All else is of the first
 *  event, and was written once. */
typedef struct lg_guard_info {
    /** LG_GUARD_CLASS_NONE: of several classes, at sites beyond LG_GUARD_SITES_MAX */
    lg_guard_class guard_class;
    lg_guard_action action;   /**< of the last event; 0: the first one was under way */
    uint64_t site;            /**< address of the code that met the fault; 0 as above */
    /** events; 0: the first one was under way when the program ended, or is now */
    uint64_t count;
    uint64_t survived;        /**< of them */
    uint64_t last_ns;         /**< CLOCK_MONOTONIC of the last event */
    uint32_t described;       /**< 1: the description is there: what follows, fields and frames */
    /** 1: the description contradicts itself or its checksum, and is not returned */
    uint32_t damaged;
    uint64_t first_ns;        /**< CLOCK_MONOTONIC of the first event */
    int32_t tid;              /**< of the thread that met the fault */
    char thread_name[17];
    char text[LG_GUARD_TEXT_MAX + 2]; /**< one line for people */
    uint32_t field_count;     /**< see lg_reader_guard_field() */
    uint32_t frame_count;     /**< see lg_reader_guard_frame() */
} lg_guard_info;

/** A field of the first event of a site. lg_reader_redacted() says whether the value may leave this
 *  machine. */
typedef struct lg_guard_field {
    char key[LG_GUARD_FIELD_MAX + 2];
    char value[LG_GUARD_FIELD_MAX + 2];
} lg_guard_field;

LG_BEGIN

/** The guard events of the run, counted.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND: guards were never started, or there was no space for their
 *          events; LG_ERR_DAMAGED; LG_ERR_STATE: not a run file.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_guards(lg_reader *reader, lg_guards_info *ret_guards);

/** The events of one site. Place 0 has the events of all sites for which there was no place, the
 *  other ones have a site each, in the order of their first events.
 *
 *  @param index  0 ≤ index ≤ LG_GUARD_SITES_MAX. Ask for every place, as there may be gaps.
 *  @return LG_OK; LG_ERR_NOT_FOUND: no event has this place; else as lg_reader_guards().
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_guard(lg_reader *reader, uint32_t index, lg_guard_info *ret_guard);

/** One field of the first event of a site, 0 ≤ field < field_count. The value of a redacted key is
 *  returned, too: an exporter must drop it.
 *
 *  @return as lg_reader_guard(); LG_ERR_NOT_FOUND also after the last field.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_guard_field(lg_reader *reader, uint32_t index, uint32_t field, lg_guard_field *ret_field);

/** One frame of the first event of a site, 0 ≤ frame < frame_count, innermost first: return
 *  addresses, except the first one of a fault that a signal reported.
 *
 *  @return as lg_reader_guard(); LG_ERR_NOT_FOUND also after the last frame.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_guard_frame(lg_reader *reader, uint32_t index, uint32_t frame, uint64_t *ret_pc);

LG_END

#endif
