/* A host of plugins that others wrote. Its plugin misbehaves in many ways, and the host goes on.
 *
 *   plugin-host DIRECTORY                     all ways, one after the other, with guards
 *   plugin-host DIRECTORY --no-guards WAY     one way without guards
 *   plugin-host DIRECTORY --stop-guards WAY   one way with guards that were stopped
 *   plugin-host --list                        the ways */
#include <launchguard/launchguard.h>

#include "plugin.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static lg_session *session;
static struct plugin *plugin;
static char directory[3000];
static lg_confinement *screen; /* What belongs to the first thread. */
static struct host host;

/* ---- ways to misbehave ---- */

static void missing_function(void) {
    plugin->close();
    printf("the plugin has nothing to close\n");
}

static void null_call(void) {
    plugin->play(&host);
    printf("the plugin called a function that this host does not have\n");
}

static void no_title(void) {
    printf("the title has %zu bytes\n", strlen(lg_guard_str(plugin->title())));
}

static void wrong_index(void) {
    static const char *const names[] = { "red", "green", "blue" };
    const char *const *name = LG_GUARD_AT(names, 3, plugin->choose(3));
    printf("the plugin chose %s\n", name ? *name : "no colour");
}

static void zero_rate(void) {
    printf("a frame takes %d ms\n", lg_guard_div_int32(1000, plugin->rate()));
}

static void cut_file(void) {
    char path[sizeof directory + 32];
    snprintf(path, sizeof path, "%s/project", directory);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, 8192) != 0)
        exit(1);
    char *project = mmap(NULL, 8192, PROT_READ, MAP_SHARED, file, 0);
    lg_guard_map(session, project, 8192, PROT_READ);
    plugin->save(path); /* It cuts the file short. */
    int sum = 0;
    for (size_t i = 0; i < 8192; i++)
        sum += ((volatile char *)project)[i];
    printf("the project is %s\n", lg_guard_map_lost(project) ? "lost: open it again" : sum ? "full" : "empty");
    lg_guard_unmap(session, project);
    munmap(project, 8192);
    close(file);
    unlink(path);
}

static void wild_pointer(void) {
    char title[16];
    size_t copied;
    const char *from = (const char *)(uintptr_t)0x10; /* As a plugin may hand it over. */
    if (lg_guard_read(title, from, sizeof title, &copied) != LG_OK)
        printf("the plugin's title can be read for %zu bytes\n", copied);
}

static void draw(void *picture) {
    (void)picture;
    if (gettid() != getpid())
        abort(); /* As a toolkit would, if it is kind. */
    printf("drawn by the first thread\n");
}

static void draw_where_it_belongs(void *picture) {
    lg_guard_confine(screen, draw, picture);
}

static void wrong_thread(void) {
    plugin->paint(&host, NULL);
    lg_confinement_serve(screen, 0); /* The event loop. */
}

static void gone_handle(void) {
    lg_handles *pictures;
    lg_handle picture;
    if (lg_handles_create("pictures", &pictures) != LG_OK || lg_handles_make(pictures, strdup("a picture"), &picture) != LG_OK)
        exit(1);
    free(lg_handles_release(pictures, picture));
    free(lg_handles_release(pictures, picture)); /* Again: freed twice, if it was a pointer. */
    printf("the picture was freed once\n");
    lg_handles_destroy(pictures);
}
