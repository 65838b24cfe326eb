#include <stdio.h>

int main(void)
{
    fputs("launchguard-agent: not yet\n", stderr);
    return 1;
}
