/* Layer 2: from registers and memory to the frames of a stack. Knows no crash.
 *
 * This header is the interface of `walk/` to the rest of the core. Nearly all of it runs in the
 * signal handler, and keeps the rules of docs/SIGNAL-SAFETY.md. */
#ifndef LG_WALK_H
#define LG_WALK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "os/os.h"
#include "store/format.h"

/* ---- walkers ---- */

/* Three threads walk stacks: the one whose crash is recorded; the watch thread, for a snapshot of a
 * program that lives; and one whose guard has found a fault, over its own stack. Each of the three
 * has its own memory for a walk: a crash waits for no other walk, and a page that one of them lost
 * does not mislead another. */
enum lg__walker { LG__WALKER_CRASH, LG__WALKER_WATCH, LG__WALKER_GUARD, LG__WALKERS };
/* The walker that the calling thread is. Initial-exec: exists with the thread. */
extern __thread uint32_t lg__memory_walker __attribute__((tls_model("initial-exec")));

/* ---- memory.c: reads that never fault; plain loads where a page was readable before ---- */

/* Forget which pages were found readable. Called at the begin of each crash on its thread, and of
 * each snapshot on the watch thread. `recovers`: the handler sends faults of this thread's reads
 * back with lg__memory_recover(). */
void lg__memory_forget(bool recovers);
/* Counts these calls for each walker: a page learned at an earlier count is no longer known. */
extern uint32_t lg__memory_age[LG__WALKERS];
/* In the handler, for a fault of the calling thread: if a guarded read made the fault, go back to
 * that read. */
void lg__memory_recover(void);
/* The same for a handler that returns: the mark to go back to. NULL: no guarded read made the
 * fault. */
const struct lg__arch_mark *lg__memory_mark(void);
/* Make pages of a file exist; in the handler that costs microseconds for each. On an ordinary
 * thread, also while another thread crashes. */
void lg__memory_touch(void *memory, size_t size);
/* Call a function that reads with plain loads from memory that may be gone (the file of a module
 * was cut). false: the function crashed. It must not call any other function of memory.c. */
bool lg__memory_guarded(void (*function)(void *), void *argument);
/* Copy as many of the `size` bytes from `from` on as can be read; returns their number. */
size_t lg__memory_read(void *to, uint64_t from, size_t size);
/* The same on an ordinary thread, before the handlers are installed, too: asks the kernel about
 * each page each time, and keeps nothing. */
size_t lg__memory_copy(void *to, uint64_t from, size_t size);
/* On an ordinary thread: whether a function of another module can be called. NULL cannot. */
bool lg__memory_has_code(void (*function)(void));
/* One word. */
bool lg__memory_word(uint64_t from, uint64_t *ret_word);

/* ---- frames.c: where a walk puts its frames ---- */

struct lg__frames {
    struct lg__frames_head *head;
    uint64_t *pcs;
    uint32_t capacity; /* of pcs */
    uint32_t last;     /* of them kept for the outermost frames of a deeper stack */
    uint32_t limit;    /* a walk ends after this number of frames */
    struct lg__async *async; /* for the chains that a walk by unwind tables finds; NULL: none */
};

/* Empty it, before a walk. */
void lg__frames_begin(const struct lg__frames *frames);
/* Append one frame: the innermost ones in order, then a ring of the outermost. */
void lg__frames_add(const struct lg__frames *frames, uint64_t pc);
/* Put the ring in order once the walk is over. */
void lg__frames_finish(const struct lg__frames *frames, enum lg__walk reason);
/* After that: keep only the frames before this one of the innermost frames. */
void lg__frames_cut(const struct lg__frames *frames, uint32_t from, enum lg__walk reason);
/* Bytes that head and stored pcs take when they lie one after the other. */
size_t lg__frames_size(const struct lg__frames *frames);

/* ---- async.c: callers that wait by Swift's `await`, and have no frame ---- */

/* The chains of a walk, one after the other. Zeros, but `words` and `room`, before the walk. */
struct lg__async {
    uint64_t *words;
    uint32_t room;           /* words */
    uint32_t used;           /* words */
    uint32_t count, omitted; /* chains */
    uint32_t last;           /* first word of the newest chain */
    uint64_t fp;             /* frame pointer that led to it */
    uint32_t followed;       /* contexts */
    struct lg__async_innermost {
        uint64_t pc, fp, context;
    } innermost; /* frame */
};
/* Look for the chain of one frame. */
void lg__async_look(struct lg__async *async, uint64_t pc, uint32_t frame, const uint64_t *registers);
/* After the walk: keep what has room in fewer words. */
void lg__async_shorten(struct lg__async *async, uint32_t room);

/* What a task of Swift does, as far as its memory tells. */
enum lg__async_task { LG__ASYNC_NO_TASK, LG__ASYNC_TASK_RUNS, LG__ASYNC_TASK_WAITS };
/* `read`: as for a module's image. */
enum lg__async_task lg__async_task(uint64_t task, size_t (*read)(void *to, uint64_t from, size_t size));
/* The functions of a task that wait for each other, the innermost first. false: the task does not
 * wait, or went on meanwhile. */
bool lg__async_walk_task(uint64_t task, const struct lg__frames *frames);

/* ---- caller.c ---- */

/* The bytes before an address are a call instruction. */
bool lg__caller_follows_call(uint64_t pc);
/* An address is not in the data of a module, by the modules that are known by now. */
bool lg__caller_is_in_code(uint64_t pc);
/* Both. */
bool lg__caller_is_one(uint64_t pc);

/* ---- walks: fill `frames` from registers in the order of lg__arch_registers() ---- */

/* `wild`: a call through a bad pointer led to pc, so the caller's address lies where the call put
 * it. One walk at a time for each walker. */
void lg__unwind_fp(const uint64_t registers[LG__REGISTERS_MAX], bool wild, const struct lg__frames *frames);
void lg__unwind_dwarf(const uint64_t registers[LG__REGISTERS_MAX], bool wild, const struct lg__frames *frames);
/* After that walk: puts the functions of its first frames after its stored pcs, as many as
 * `words`, the room of `frames->pcs`, can hold. Returns the bytes that they take. */
size_t lg__unwind_dwarf_functions(const struct lg__frames *frames, uint32_t words);
/* One step by the row for pc itself: 1, 0 at the outermost frame, −1 there is none. */
int lg__unwind_dwarf_step(uint64_t registers[LG__REGISTERS_MAX]);
/* The same walk by libunwind, where that is loaded. */
void lg__unwind_libunwind(const uint64_t registers[LG__REGISTERS_MAX], bool wild, const struct lg__frames *frames);
/* Load libunwind, on an ordinary thread. false: it is not there. */
bool lg__unwind_libunwind_prepare(void);

/* ---- image.c: a module, from its program headers in memory ---- */

#define LG__MODULE_HOLES 3u
struct lg__module_range {
    uint64_t start, end, bias;
    uint64_t reach; /* in a sorted table: the highest end of this and earlier rows */
    /* Between its segments, in pages after `start`: the kernel may put another module there, or
     * memory of the program. Of more than so many the first ones. */
    struct lg__module_hole {
        uint32_t from, to;
    } holes[LG__MODULE_HOLES];
    uint64_t code_start, code_end;     /* executable segments, from the lowest to the highest */
    uint64_t tables_start, tables_end; /* the readable segment that holds the unwind tables */
    /* address of PT_GNU_EH_FRAME; 0: none that can be searched */
    uint64_t frame_header;
    uint64_t table;                    /* address of its search table */
    uint64_t table_count;              /* entries */
    uint64_t dynamic;                  /* address of PT_DYNAMIC; 0: none */
    uint64_t id_address;               /* of the build id */
    uint32_t id_size;
    uint32_t id_crc;
    uint32_t name_crc;                 /* of the loader's name for it */
    uint64_t name;                     /* address of that name */
};

/* Whether an address is in one of the module's segments. */
static inline bool lg__image_holds(const struct lg__module_range *module, uint64_t address)
{
    if (address < module->start || address >= module->end)
        return false;
    const uint64_t page = address / LG__PAGE - module->start / LG__PAGE;
    for (unsigned i = 0; i < LG__MODULE_HOLES; i++)
        if (page >= module->holes[i].from && page < module->holes[i].to)
            return false;
    return true;
}

/* The way to read the module's memory: lg__memory_copy() on an ordinary thread, lg__memory_read()
 * in the handler. A module's file may have been cut: no part of a module is read in another way. */
typedef size_t (*lg__image_read)(void *to, uint64_t from, size_t size);

/* Memory for the program headers, too large for small alternate stacks. */
#define LG__IMAGE_HEADERS 64u
struct lg__image_room {
    uint64_t words[LG__IMAGE_HEADERS * 7];
};

/* Everything but the name. `headers` is the address of `count` ElfW(Phdr). false: they cannot be
 * read, or no segment is loaded. */
bool lg__image_describe(struct lg__image_room *room, uint64_t headers, size_t count, uint64_t bias, lg__image_read read,
                        struct lg__module_range *ret_module);
/* The loader's name for a module, "" where the name cannot be read: that of the loader itself lies
 * in the executable. Of a longer one the end is kept, which has the name of the file. */
#define LG__IMAGE_NAME_BYTES 1024u
struct lg__image_name {
    uint32_t size;
    uint32_t crc; /* of the whole name */
    bool is_cut;
    char text[LG__IMAGE_NAME_BYTES];
};
void lg__image_name(struct lg__image_name *ret_name, uint64_t at, lg__image_read read);
/* The value of a tag in the dynamic section at an address, 0: none. */
uint64_t lg__image_dynamic(uint64_t at, int64_t tag, lg__image_read read);
/* The address of a symbol that the module defines, and where it is asked for, its size; 0: none. */
#define LG__SYMBOL_BYTES 48u /* of its name, with the NUL */
uint64_t lg__image_symbol(const struct lg__module_range *module, const char *name, lg__image_read read, uint64_t *ret_size);
uint32_t lg__image_crc(const void *bytes, size_t size);
/* Build id of the module with these program headers, at an address. Returns its size; 0: the module
 * has none. On an ordinary thread. */
uint32_t lg__image_build_id(uint64_t headers, size_t count, uint64_t bias, uint8_t ret_id[LG__BUILD_ID_BYTES]);

/* ---- modules.c: tables of modules, and those of the run file ---- */

/* The rows of a table that has so few of them are part of it. */
#define LG__MODULES_FEW 64u
struct lg__modules {
    uint32_t count;      /* rows, sorted by start */
    uint32_t added;      /* rows with those that are not sorted yet */
    uint32_t room;       /* rows that have room; 0: the table was never used */
    uint32_t omitted;    /* modules without room: the kernel gave no memory */
    uint64_t adds, subs; /* dlpi_adds and dlpi_subs when it was made */
    struct lg__module_range *modules;
    struct lg__module_range few[LG__MODULES_FEW];
};

/* Begin a table anew; add modules; sort them. A table grows, and keeps its memory. */
void lg__modules_begin(struct lg__modules *table);
void lg__modules_add(struct lg__modules *table, const struct lg__module_range *module);
void lg__modules_sort(struct lg__modules *table);
/* The module of a table that holds an address, among those that are sorted; NULL: none known. */
const struct lg__module_range *lg__modules_search(const struct lg__modules *table, uint64_t address);

/* The two tables of the run file; NULL: it has none. On an ordinary thread. */
void lg__modules_prepare(struct lg__module_table *files);
/* The executable's program headers, 0: they cannot be read; and its path. */
struct lg__executable {
    uint64_t headers, bias;
    size_t count;
    const char *path;
    uint32_t build_id_size;
    uint8_t build_id[LG__BUILD_ID_BYTES];
};
/* Find it, before all else. On an ordinary thread. */
void lg__modules_find_executable(void);
extern struct lg__executable lg__modules_executable;
/* Read the loaded modules and publish the table, in memory and in the run file. Leaves both alone
 * where `is_in_use`, asked under the lock, says that a handler reads them. On an ordinary
 * thread. */
void lg__modules_refresh(bool (*is_in_use)(void));
/* The table that a refresh published last; NULL: none yet. */
const struct lg__modules *lg__modules_published(void);
/* Write a table of the run file: the executable, the modules `first`, and as many of `table` as
 * have room. `urgent`: the one writer that waits for no other, and writes the table that no other
 * one writes. `read` reads the names. */
void lg__modules_write(const struct lg__modules *table, const struct lg__module_range *first, uint32_t count, bool urgent, lg__image_read read);
/* The newest table of the run file lacks modules. */
bool lg__modules_are_omitted(void);

/* ---- mapped.c: a module that no list has ---- */

/* Describe the module of an address by the kernel's map of this process. false: the address is in
 * no module, or the map cannot be read, or was read too often by now. In the handler. */
bool lg__mapped_describe(uint64_t address, struct lg__module_range *ret_module);

/* ---- loader.c: changes since then, by the loader's own list ---- */

/* In a forked child: the run file has no modules. */
void lg__loader_forget(void);
/* Once for each crash: use the published table, or make one when there is none or when modules came
 * or went. In the handler. */
void lg__loader_settle(void);
/* Write what the run file lacks: a table that was made, and the modules that were found since the
 * last call. `urgent` as above. In the handler, and on the watch thread. */
void lg__loader_write(bool urgent);
/* The module that holds an address, by the table that is in use, or else by the map; NULL: none
 * known. The run file keeps a module that was found, whatever else has no room there. In the
 * handler. */
const struct lg__module_range *lg__loader_find(uint64_t address);
/* Whether an address is in the code of a module. In the handler. */
bool lg__loader_has_code(uint64_t address);
/* The same by the lists alone, for words that are seldom an address: a look at the kernel's map
 * costs much, and there are few. */
bool lg__loader_lists_code(uint64_t address);
/* The modules of that table by index; NULL after the last. In the handler. */
const struct lg__module_range *lg__loader_module(uint32_t index);

#endif
