/* The smallest program, for the price of a process. */
int main(void)
{
    return 0;
}
