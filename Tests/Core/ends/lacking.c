/* A library that calls an undefined function. With lazy binding the loader loads the library all
 * the same, and ends the program at the call. */
void lacking_function_of_nobody(void);
void lacking_calls(void);

void lacking_calls(void)
{
    lacking_function_of_nobody();
}
