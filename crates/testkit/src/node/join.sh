# Becomes a command of the node: sh join.sh COMMAND...
#
# Entering a namespace of control groups moves nobody into them.
set -e
for group in $(awk '$3 ~ /^cgroup/ { print $2 "/daemons" }' /proc/mounts); do
    echo $$ > "$group/cgroup.procs"
done
exec "$@"
