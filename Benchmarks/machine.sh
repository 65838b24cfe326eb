# The first lines of the output: machine and moment. Needs $rounds.
model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
echo "$(date -u +%Y-%m-%dT%H:%M:%SZ)  $(uname -srm)  ${model:-unknown CPU}, $(nproc) CPUs, load $(cut -d ' ' -f 1-3 /proc/loadavg)"
echo "$rounds rounds, each in a random order; differences and ratios are taken within a round; the core as it is shipped"
