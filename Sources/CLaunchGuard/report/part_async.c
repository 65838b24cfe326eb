/* Chains of asynchronous callers, of the crashed thread and of others. */
#include "report/items.h"
#include "report/parts.h"

struct async {
    const struct lg__chains *chains;
    lg_async_chain chain;
    uint32_t index;
};

#define OF struct async

static void frame(struct lg__report *report, const void *of)
{
    const struct async *async = of;
    lg__report_frame(report, async->chain.pc, async->chain.frame == 0 && async->chains->is_top_exact);
}

static void callers(struct lg__report *report, const void *of)
{
    const struct async *async = of;
    const struct lg__chains *chains = async->chains;
    struct lg__json_list list = lg__json_list(&report->json);
    uint64_t pc;
    lg__json_list_begin(&report->json, &list);
    for (uint32_t i = 0; report->frames_left && chains->caller(report, chains->of, async->index, i, &pc) == LG_OK; i++) {
        report->frames_left--;
        lg__json_item(&report->json, &list);
        lg__report_frame(report, pc, true);
    }
    lg__json_list_end(&report->json, &list);
}

static const struct lg__field fields[] = {
    VALUE("frame", frame, "frame", "", "The frame that the chain belongs to."),
    FIELD(NUMBER, "number", chain.frame, "", "Its number in the walk by unwind tables; 0: the innermost."),
    VALUE("callers", callers, "[frame]", "", "The nearest caller first; the address is where it goes on once the callee has ended."),
    FIELD(BOOL, "isTruncated", chain.truncated, "", "Whether there were more callers than the record had room for."),
    ADDED("isAsync", "boolean",
          "Whether the function of the frame is asynchronous, by its symbol; left out: not known."),
    LAST,
};
const struct lg__shape lg__shape_async = { "async-chain",
                                           LG__SENTENCE("Functions that wait for that of a frame by Swift's await, if that is asynchronous."),
                                           fields };

#undef OF

static lg_status read_chain(struct lg__report *report, const void *of, uint32_t index, void *ret_item)
{
    const struct lg__chains *chains = of;
    struct async *async = ret_item;
    const lg_status status = chains->chain(report, chains->of, index, &async->chain);
    async->index = index;
    return status == LG_ERR_INCOMPLETE ? LG_ERR_NOT_FOUND : status;
}

void lg__report_chains(struct lg__report *report, const struct lg__chains *chains)
{
    const struct lg__items items = { &lg__shape_async, chains->part, false, read_chain };
    struct async async = { .chains = chains };
    lg__items_write(report, &items, chains, UINT32_MAX, &async);
}
