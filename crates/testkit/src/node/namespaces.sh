# The first process of a node, in namespaces of its own: sh namespaces.sh GROUP COMMAND...
#
# It first moves into control groups called GROUP, one in each hierarchy, so that these are all that the node sees and
# all that it and its pods create is inside them.
set -e
group=$1
shift
for hierarchy in $(awk '$3 ~ /^cgroup/ { print $2 }' /proc/mounts); do
    mkdir -p "$hierarchy/$group"
    # In the first version of control groups a new one has no processors and no memory.
    for share in cpuset.cpus cpuset.mems; do
        [ ! -e "$hierarchy/$group/$share" ] || cat "$hierarchy/$share" > "$hierarchy/$group/$share"
    done
    echo $$ > "$hierarchy/$group/cgroup.procs"
done
exec unshare --net --mount --pid --cgroup --fork --kill-child --mount-proc -- sh -ec '
    awk "\$3 ~ /^cgroup/ { print \$2, \$3, \$4 }" /proc/mounts | while read -r place kind options; do
        umount "$place"
        # The options of the second version belong to the whole machine.
        [ "$kind" = cgroup ] || options=rw
        mount -t "$kind" -o "$options" cgroup "$place"
        # The second version wants processes in the leaves.
        mkdir -p "$place/daemons"
        for share in cpuset.cpus cpuset.mems; do
            [ ! -e "$place/$share" ] || cat "$place/$share" > "$place/daemons/$share"
        done
        echo 1 > "$place/daemons/cgroup.procs"
    done
    exec "$@"' sh "$@"
