/* A library that the tests load and unload: its frames have no frame pointer, only unwind tables.
 * PLUGIN makes different ones. */
int plugin_call(void (*function)(void));

int plugin_call(void (*function)(void))
{
    static volatile int calls;
    volatile int space[PLUGIN * 8];
    for (int i = 0; i < PLUGIN * 8; i++)
        space[i] = i;
    function();
    calls += space[PLUGIN];
    return calls + PLUGIN;
}
