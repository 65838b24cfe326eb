// glog's failure signal handler, which writes names to standard error.
#include "scene.h"

#include <glog/logging.h>

int main(int count, char **arguments)
{
    scene_open(count, arguments);
    FLAGS_logtostderr = true;
    google::InitGoogleLogging(arguments[0]);
    google::InstallFailureSignalHandler();
    scene_play();
}
