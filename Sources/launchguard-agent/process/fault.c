#include "process/fault.h"

#ifdef LG_FAULT_POINTS
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/fault_point.h"

static const char *chosen;
static long times = 1;
static int deed = SIGKILL;
static int list = -1;

static void pass(const char *point)
{
    if (list >= 0 && (write(list, point, strlen(point)) < 0 || write(list, "\n", 1) < 0))
        return;
    size_t size = chosen ? strcspn(chosen, "#") : 0;
    if (chosen && strlen(point) == size && strncmp(chosen, point, size) == 0 && --times == 0)
        kill(getpid(), deed);
}

void fault_prepare(void)
{
    const char *text = getenv("LAUNCHGUARD_AGENT_FAULT");
    if (!text)
        return;
    if (strncmp(text, "list:", 5) == 0) {
        list = open(text + 5, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    } else {
        if (strncmp(text, "stop:", 5) == 0) {
            deed = SIGSTOP;
            text += 5;
        }
        chosen = text;
        if (strchr(text, '#'))
            times = strtol(strchr(text, '#') + 1, NULL, 10);
    }
    lg__fault_hook = pass;
}
#else
void fault_prepare(void)
{
}
#endif
