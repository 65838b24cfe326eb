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
static lg_confinement *screen; /* Calls that belong to the first thread. */
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
    lg_confinement_serve(screen); /* The event loop. */
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

static void on_change(const void *event, void *user) {
    const char *const *name = user;
    fputs(*name, stdout);
    printf(" hears of %s\n", (const char *)event);
}

static void gone_observer(void) {
    lg_observers *changes;
    lg_owner owner;
    const char **window = malloc(sizeof *window);
    *window = "the plugin's window";
    if (lg_observers_create("changes", &changes) != LG_OK || lg_owner_create("window", &owner) != LG_OK ||
        lg_observers_add(changes, owner, on_change, window) != LG_OK)
        exit(1);
    *window = NULL; /* The plugin closes its window, and forgets the observer. */
    lg_owner_end(owner);
    printf("%zu observers hear of the change\n", lg_observers_post(changes, "a change"));
    lg_observers_destroy(changes);
    free(window);
}

static const struct way {
    const char *name;
    void (*run)(void);
} ways[] = {
    { "missing-function", missing_function },
    { "null-call", null_call },
    { "no-title", no_title },
    { "wrong-index", wrong_index },
    { "zero-rate", zero_rate },
    { "cut-file", cut_file },
    { "wild-pointer", wild_pointer },
    { "wrong-thread", wrong_thread },
    { "gone-handle", gone_handle },
    { "gone-observer", gone_observer },
};
#define WAYS (sizeof ways / sizeof ways[0])

/* ---- the host ---- */

static void show(const lg_guard_event *event, void *user) {
    (void)user;
    fprintf(stderr, "  guard %s: %s (%s, %" PRIu64 ")\n", lg_guard_class_name(event->guard_class), event->text,
            lg_guard_action_name(event->action), event->count);
}

/* The plugin of this program is a module beside it. */
static void load_plugin(void) {
    char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 32);
    path[size > 0 ? size : 0] = 0;
    char *slash = strrchr(path, '/');
    strcpy(slash ? slash + 1 : path, "careless-plugin.so");
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    plugin = module ? dlsym(module, "plugin") : NULL;
    if (!plugin) {
        fprintf(stderr, "plugin-host: %s\n", dlerror());
        exit(1);
    }
    const lg_guard_row rows[] = {
        LG_GUARD_ROW_REQUIRED("title", plugin->title),
        LG_GUARD_ROW("close", plugin->close, NULL),
    };
    const char *missing = "a function";
    if (lg_guard_fill(NULL, rows, sizeof rows / sizeof rows[0], &missing) != LG_OK) {
        fprintf(stderr, "plugin-host: the plugin lacks %s\n", missing);
        exit(1);
    }
}

static void start_guards(void) {
    lg_guard_options options = LG_GUARD_OPTIONS_INIT;
    options.classes = LG_GUARDS_ALL;
    options.policy = LG_GUARD_SURVIVE; /* In debug builds, too: that is what this host is for. */
    options.quiet = 1;
    options.on_event = show;
    lg_status status = lg_guard_start(session, &options);
    if (status != LG_OK)
        fprintf(stderr, "plugin-host: guards: %s\n", lg_status_message(status));
}

static int usage(void) {
    fprintf(stderr, "usage: plugin-host DIRECTORY [--no-guards WAY | --stop-guards WAY]\n"
                    "       plugin-host --list\n");
    return 2;
}

static int run_one(const char *name) {
    for (size_t i = 0; i < WAYS; i++)
        if (strcmp(ways[i].name, name) == 0) {
            ways[i].run();
            return 0;
        }
    fprintf(stderr, "plugin-host: no such way: %s; --list shows them\n", name);
    return 2;
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "--list") == 0) {
        for (size_t i = 0; i < WAYS; i++)
            printf("%s\n", ways[i].name);
        return 0;
    }
    const char *how = count == 4 ? arguments[2] : "";
    const int has_none = strcmp(how, "--no-guards") == 0, has_stopped = strcmp(how, "--stop-guards") == 0;
    if (count != 2 && !has_none && !has_stopped)
        return usage();
    setvbuf(stdout, NULL, _IOLBF, 0);
    snprintf(directory, sizeof directory, "%s", arguments[1]);
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.plugin-host";
    options.state_directory = directory;
    lg_start(&options, &session);
    if (!has_none)
        start_guards();
    if (has_stopped)
        lg_guard_stop(session);
    host.draw = draw_where_it_belongs;
    load_plugin();
    lg_confinement_options confined = LG_CONFINEMENT_OPTIONS_INIT;
    confined.name = "screen";
    if (lg_confinement_create(&confined, &screen) != LG_OK)
        return 1;
    int result = 0;
    if (count == 4)
        result = run_one(arguments[3]);
    else
        for (size_t i = 0; i < WAYS; i++)
            ways[i].run();
    lg_stop(session); /* Reports the remaining events. */
    printf("the host is well\n");
    return result;
}
