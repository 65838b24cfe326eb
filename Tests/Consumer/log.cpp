// Breadcrumbs from C++: log DIR. Logs entries of every kind, then dies of SIGKILL.
#include <launchguard/log.hpp>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>

int main(int count, char **arguments)
{
    if (count != 2)
        return 2;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.consumer";
    options.state_directory = arguments[1];
    lg_session *session;
    if (lg_start(&options, &session) != LG_OK)
        return 1;
    std::printf("%s\n", lg_session_run_path(session));
    std::fflush(stdout);

    const launchguard::logger network(session, "network");
    const std::string url = "https://example.org/a path", much(5000, 'x');
    const char *none = nullptr;
    bool right = network.error("request failed", { { "url", url }, { "part", std::string_view(url).substr(0, 5) }, { "code", 503 }, { "none", none } }) == LG_OK;
    right = launchguard::log(session, LG_LEVEL_DEBUG, "numbers",
                             { { "int64", std::numeric_limits<std::int64_t>::min() },
                               { "uint64", std::numeric_limits<std::uint64_t>::max() },
                               { "short", short{ -7 } },
                               { "byte", static_cast<unsigned char>(200) },
                               { "char", 'c' },
                               { "yes", true },
                               { "no", false },
                               { "float", 0.1f },
                               { "double", -std::numeric_limits<double>::max() },
                               { "ratio", 2.5L } }) == LG_OK && right;
    right = launchguard::log(session, LG_LEVEL_INFO, "plain") == LG_OK && right;
    right = network.info("", { { "much", much }, { "little", 1 } }) == LG_OK && right;
    using f = launchguard::field;
#define TEN(key) f{ key "0", 0 }, f{ key "1", 1 }, f{ key "2", 2 }, f{ key "3", 3 }, f{ key "4", 4 }, f{ key "5", 5 }, f{ key "6", 6 }, f{ key "7", 7 }, f{ key "8", 8 }, f{ key "9", 9 }
    right = network.trace("most", { TEN("a"), TEN("b"), TEN("c"), TEN("d"), TEN("e"), TEN("f"), f{ "g0", 0 }, f{ "g1", 1 }, f{ "g2", 2 }, f{ "g3", 3 } }) == LG_OK && right;
    right = network.trace("too many", { TEN("a"), TEN("b"), TEN("c"), TEN("d"), TEN("e"), TEN("f"), TEN("g") }) == LG_OK && right;
    right = network.debug("refused", { { "", 1 } }) == LG_ERR_ARGUMENT && right;
    right = launchguard::logger(nullptr).critical("refused") == LG_ERR_ARGUMENT && right;
    if (!right)
        return 1;
    std::raise(SIGKILL);
}
