/* The interface between the host and its plugins. */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <stddef.h>

/* The host, as a plugin sees it. A host of today has no `beep`. */
struct host {
    void (*beep)(void);
    void (*draw)(void *picture); /* on the first thread alone */
};

/* A plugin, as the host sees it. All but `title` may be missing. */
struct plugin {
    const char *(*title)(void);
    size_t (*choose)(size_t colours); /* the index of one */
    int (*rate)(void);                /* frames in a second */
    void (*play)(const struct host *host);
    void (*paint)(const struct host *host, void *picture);
    void (*save)(const char *path);
    void (*close)(void);
};

#endif
