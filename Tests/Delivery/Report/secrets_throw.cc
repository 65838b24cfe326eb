// The exception of secrets.c.
#include <stdexcept>

extern "C" void throw_words(const char *words);

extern "C" void throw_words(const char *words)
{
    throw std::runtime_error(words);
}
