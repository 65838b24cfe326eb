/* A module whose constructor keeps both locks of the dynamic loader: that of dlopen(), which runs
 * it, and that of the list of modules. */
#include <link.h>
#include <unistd.h>

static int stay(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)info, (void)size, (void)data;
    for (;;)
        pause();
    return 0;
}

static __attribute__((constructor)) void load(void)
{
    dl_iterate_phdr(stay, NULL);
}
