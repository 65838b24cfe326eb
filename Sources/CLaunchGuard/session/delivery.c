#include "session/delivery.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct lg__delivery lg__delivery_state = { .lock = PTHREAD_MUTEX_INITIALIZER };

bool lg__delivery_started(void)
{
    pthread_mutex_lock(&lg__delivery_state.lock);
    bool started = lg__delivery_state.started;
    pthread_mutex_unlock(&lg__delivery_state.lock);
    return started;
}

int lg__delivery_spool(const lg_session *session, bool make, struct lg__problem *problem)
{
    int runs = lg__session_open_runs(session), directory = runs < 0 ? -1 : openat(runs, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        lg__problem_set(problem, lg__problem_from_errno(errno), session->host.directory, errno);
    if (runs >= 0)
        close(runs);
    if (directory < 0)
        return -1;
    int spool = lg__spool_open(directory, session->host.directory, make, problem);
    close(directory);
    return spool;
}

lg_status lg__delivery_problem(lg_session *session, const struct lg__problem *problem)
{
    struct lg__host *host = &session->host;
    pthread_mutex_lock(&host->lock);
    if (host->problem.status == LG_OK)
        host->problem = *problem;
    pthread_mutex_unlock(&host->lock);
    errno = problem->error;
    return problem->status;
}

bool lg__delivery_each(int spool, const char *folder, bool (*each)(int folder, const char *name, void *argument), void *argument)
{
    int file = openat(spool, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *stream = file < 0 ? NULL : fdopendir(file);
    if (!stream) {
        int error = errno;
        if (file >= 0)
            close(file);
        errno = error;
        return false;
    }
    for (struct dirent *entry; (entry = readdir(stream));)
        if (entry->d_name[0] != '.' && !each(dirfd(stream), entry->d_name, argument))
            break;
    closedir(stream);
    return true;
}

static bool count_one(int folder, const char *name, void *argument)
{
    (void)folder, (void)name;
    ++*(uint32_t *)argument;
    return true;
}

uint32_t lg__delivery_count(int spool, const char *folder)
{
    uint32_t count = 0;
    lg__delivery_each(spool, folder, count_one, &count);
    return count;
}
