#include "store/problem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "store/error_words.h"

lg_status lg__problem_set(struct lg__problem *problem, lg_status status, const char *path, int error)
{
    char reason[128] = "", words[96];
    if (error) {
        snprintf(reason, sizeof reason, " (%s)",
                 error == ENODEV /* of mmap() */ ? "no shared memory there: put the state directory on another one"
                 : error == EFBIG                ? "raise ulimit -f"
                                                 : lg__error_words(error, words, sizeof words));
        errno = error;
    }
    return lg__problem_say(problem, status, "%s%s%s%s", path ? path : "", path ? ": " : "", lg_status_message(status), reason);
}

lg_status lg__problem_say(struct lg__problem *problem, lg_status status, const char *format, ...)
{
    if (problem->status != LG_OK)
        return status;
    problem->status = status;
    problem->error = errno;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->message, sizeof problem->message, format, arguments);
    va_end(arguments);
    return status;
}

lg_status lg__problem_from_errno(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return LG_ERR_PERMISSION;
    case EROFS:
        return LG_ERR_READ_ONLY;
    case ENOSPC:
    case EDQUOT:
        return LG_ERR_NO_SPACE;
    case EFBIG: /* RLIMIT_FSIZE, or the limit of the file system */
        return LG_ERR_LIMIT;
    case ELOOP:
        return LG_ERR_LINK;
    case ENOTDIR:
    case ENAMETOOLONG:
        return LG_ERR_NOT_DIRECTORY;
    case ENOENT:
        return LG_ERR_NOT_FOUND;
    default:
        return LG_ERR_SYSTEM;
    }
}
