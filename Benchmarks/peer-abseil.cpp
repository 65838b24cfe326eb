// abseil's failure signal handler, which writes names to standard error.
#include "scene.h"

#include <absl/debugging/failure_signal_handler.h>
#include <absl/debugging/symbolize.h>

int main(int count, char **arguments)
{
    scene_open(count, arguments);
    absl::InitializeSymbolizer(arguments[0]);
    absl::InstallFailureSignalHandler(absl::FailureSignalHandlerOptions());
    scene_play();
}
