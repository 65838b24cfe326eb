/* The program of the C build. */
#include "catalogue.h"

int main(int count, char **arguments)
{
    return lgf_main(count, arguments);
}
