/* A plugin whose author was in a hurry. */
#include "plugin.h"

#include <pthread.h>
#include <unistd.h>

static const char *title(void) {
    return NULL;
}

static size_t choose(size_t colours) {
    return colours << 40; /* Code of another program. */
}

static int rate(void) {
    return 0;
}

static void play(const struct host *host) {
    host->beep(); /* Is it there? */
}

static const struct host *painting;

static void *paint_in_background(void *picture) {
    painting->draw(picture);
    return NULL;
}

static void paint(const struct host *host, void *picture) {
    pthread_t thread;
    painting = host;
    if (pthread_create(&thread, NULL, paint_in_background, picture) == 0)
        pthread_join(thread, NULL);
}

static void save(const char *path) {
    if (truncate(path, 0) != 0)
        return;
}

struct plugin plugin = { .title = title, .choose = choose, .rate = rate, .play = play, .paint = paint, .save = save };
