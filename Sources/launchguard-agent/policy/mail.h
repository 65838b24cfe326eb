/* A report in memory: all that the policy knows of it. */
#ifndef AGENT_MAIL_H
#define AGENT_MAIL_H

#include "launchguard/delivery.h"
#include "store/report.h"

struct mail {
    char name[LG__REPORT_NAME_BYTES];
    lg_delivery_state state;
    struct lg__report_name parts;
    struct lg__report_header header;
};

#endif
