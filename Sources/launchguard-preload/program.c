#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "script.h"
#include "store/crc32c.h"
#include "store/map.h"

/* The link in a state directory to the program that it belongs to. */
#define OWNER ".program"

/* ---- name and file ---- */

/* In the letters of an app_id. A login shell has a dash before its name. */
static void take_name(const char *path, struct lg__program *program)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    size_t size;
    const char *name = lg__script_last_part(path, &size);
    for (; size && *name == '-'; size--)
        name++;
    snprintf(program->name, sizeof program->name, "%.*s", size ? (int)size : 7, size ? name : "program");
    for (char *at = program->name; *at; at++)
        if (!strchr(letters, *at) || (at == program->name && *at == '.'))
            *at = '_';
}

/* A path from the root, as it was named: one through a link leads to the next version of a program
 * as well. false: nothing is there. */
static bool take_path(const char *path, const char *end, struct lg__program *program)
{
    char folder[2048] = "";
    struct stat info;
    if (path[0] != '/' && !getcwd(folder, sizeof folder))
        return false;
    const int size = snprintf(program->path, sizeof program->path, "%s%s%s%s", folder, *folder ? "/" : "", path, end);
    if (size > 0 && (size_t)size < sizeof program->path && stat(program->path, &info) == 0)
        return true;
    program->path[0] = 0;
    return false;
}

/* A module of the working directory. */
static bool take_module(const char *name, struct lg__program *program)
{
    char path[1024];
    snprintf(path, sizeof path, "%s", name);
    for (char *at = path; *at; at++)
        if (*at == '.')
            *at = '/';
    return take_path(path, "", program) || take_path(path, ".py", program);
}

enum lg__preloaded_role lg__program_role(void)
{
    const char *process = secure_getenv("LAUNCHGUARD_PROGRAM");
    if (!process)
        return LG__PRELOADED_ALONE;
    return strtol(process, NULL, 10) == getpid() ? LG__PRELOADED_PROGRAM : LG__PRELOADED_HELPER;
}

/* The name is the program's; helpers have names of their own, and so has env(1), which only
 * executes another program. */
static bool take_given_name(struct lg__program *program)
{
    const char *name = secure_getenv("LAUNCHGUARD_NAME");
    if (!name || lg__program_role() != LG__PRELOADED_PROGRAM || strcmp(program->name, "env") == 0)
        return false;
    take_name(name, program);
    return true;
}

void lg__program_take(int count, char *const *arguments, struct lg__program *ret_program)
{
    const char *first = count > 0 ? arguments[0] : "", *executed = (const char *)getauxval(AT_EXECFN);
    const char *script = lg__script_find(count, arguments, executed ? executed : "");
    char folder[2048];
    const bool is_here = script && strcmp(script, ".") == 0 && getcwd(folder, sizeof folder);
    memset(ret_program, 0, sizeof *ret_program);
    take_name(is_here ? folder : script ? script : first, ret_program);
    if (take_given_name(ret_program) || (script && (take_path(script, "", ret_program) || take_module(script, ret_program))))
        return;
    /* the loader, where it was executed, puts the path of its program there */
    if (!(strchr(first, '/') && take_path(first, "", ret_program)) && executed)
        take_path(executed, "", ret_program);
}

/* ---- directory ---- */

/* Puts its path together; the directory of another user stays alone. */
static bool name_directory(struct lg__program *program, const char *folder)
{
    char *path = program->directory;
    const size_t size = sizeof program->directory;
    struct stat info;
    if (!folder) {
        if (lg_state_directory(program->name, path, size) != LG_OK)
            path[0] = 0;
        return true;
    }
    const int length = snprintf(path, size, "%s/%s", folder, program->name);
    if (folder[0] != '/' || length < 0 || (size_t)length >= size - 16)
        return false;
    if (stat(path, &info) == 0 && info.st_uid != geteuid())
        snprintf(path + length, size - (size_t)length, ".%u", (unsigned)geteuid());
    return true;
}

/* Two names of one file, as /bin/sh and /usr/bin/sh, are one program; so is one in the place of a
 * program that is gone. */
static bool is_other(const char *owner, const char *path)
{
    struct stat theirs, ours;
    if (strcmp(owner, path) == 0 || stat(owner, &theirs) != 0 || stat(path, &ours) != 0)
        return false;
    return theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino;
}

static void claim(int directory, const char *path)
{
    char name[64];
    snprintf(name, sizeof name, OWNER ".new-%d", (int)getpid());
    if (symlinkat(path, directory, name) == 0 && renameat(directory, name, directory, OWNER) != 0)
        unlinkat(directory, name, 0);
}

/* Whether the directory is the program's, or has become so. Where that cannot be known, it is: the
 * session says what is wrong. */
static bool take_directory(const struct lg__program *program)
{
    struct lg__problem ignored = { .status = LG_OK };
    char owner[sizeof program->path];
    if (!program->path[0] || !program->directory[0])
        return true;
    const int directory = lg__map_directory(program->directory, &ignored);
    if (directory < 0)
        return true;
    if (symlinkat(program->path, directory, OWNER) != 0 && errno == EEXIST) {
        const ssize_t size = readlinkat(directory, OWNER, owner, sizeof owner - 1);
        owner[size < 0 ? 0 : size] = 0;
        if (size > 0 && is_other(owner, program->path)) {
            close(directory);
            return false;
        }
        if (size > 0 && access(owner, F_OK) != 0)
            claim(directory, program->path);
    }
    close(directory);
    return true;
}

bool lg__program_place(struct lg__program *program, const char *folder)
{
    if (!name_directory(program, folder))
        return false;
    if (take_directory(program))
        return true;
    const uint32_t digest = lg__crc32c(0, program->path, strlen(program->path));
    const size_t size = strnlen(program->name, LG_NAME_MAX - 9);
    snprintf(program->name + size, sizeof program->name - size, "-%08x", (unsigned)digest);
    if (!name_directory(program, folder))
        return false;
    take_directory(program);
    return true;
}
