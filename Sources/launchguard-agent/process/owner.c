#include "process/owner.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The group of an owner that no list of users has: of nobody. */
#define NO_GROUP 65534

static bool give_up_capabilities(void)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0, 0, 0 } };
    return syscall(SYS_capset, &header, none) == 0;
}

/* From root. The group of the directory may be one that the owner is not in. */
static bool change_to(uid_t user)
{
    const struct passwd *entry = getpwuid(user);
    const gid_t group = entry ? entry->pw_gid : NO_GROUP;
    unsetenv("HOME"); /* root's */
    return setgroups(0, NULL) == 0 && setresgid(group, group, group) == 0 && setresuid(user, user, user) == 0 && give_up_capabilities();
}

static bool owner_of(int directory, const char *path, uid_t *ret_user)
{
    struct stat info;
    if (fstat(directory, &info) != 0) {
        fprintf(stderr, "launchguard-agent: %s: %s\n", path, strerror(errno));
        return false;
    }
    *ret_user = info.st_uid;
    return true;
}

bool owner_is(int directory, const char *path)
{
    uid_t user;
    if (!owner_of(directory, path, &user))
        return false;
    if (user == geteuid())
        return true;
    fprintf(stderr, "launchguard-agent: %s: it belongs to user %u, and the agent acts as user %u: run the agent as that user, or as root\n", path,
            (unsigned)user, (unsigned)geteuid());
    return false;
}

bool owner_become(int directory, const char *path)
{
    uid_t user;
    if (geteuid() != 0 || !owner_of(directory, path, &user) || user == 0)
        return owner_is(directory, path);
    if (change_to(user))
        return true;
    fprintf(stderr, "launchguard-agent: %s: root cannot become user %u, to whom it belongs: %s\n", path, (unsigned)user, strerror(errno));
    return false;
}
