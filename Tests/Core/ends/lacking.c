/* A library that calls a function which nobody has: bound lazily it is loaded all the same, and the
 * loader ends the program at the call. */
void lacking_function_of_nobody(void);
void lacking_calls(void);

void lacking_calls(void)
{
    lacking_function_of_nobody();
}
