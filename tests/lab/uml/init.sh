#!/usr/bin/env bash
# Process 1 of the kernel that run.sh boots: makes the place fit for a lab, runs the command, and powers off.
set -u
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/tmp

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
out=$(tr ' ' '\n' </proc/cmdline | sed -n 's/^kasane_out=//p')
mkdir -p /run/out /run/modules /run/netns
mount -t hostfs none /run/out -o "$out"
. /run/out/uml.env

# The modules lie in another place than the host's, which modprobe and the kernel's own requests must be told.
mkdir -p /run/modules/lib
ln -s /usr/lib/uml/modules /run/modules/lib/modules
printf '#!/bin/sh\nexec /sbin/modprobe -d /run/modules "$@"\n' >/run/modprobe
chmod 755 /run/modprobe
echo /run/modprobe >/proc/sys/kernel/modprobe
# ipv6 first: loaded by the first vxlan port, it waits for a lock that the port's creation holds.
for module in ipv6 veth bridge openvswitch vport-vxlan; do /run/modprobe "$module" || echo "uml: no module $module"; done

# Open vSwitch's database and the lab write to /tmp; the build may lie below it.
mkdir -p /run/top
mount --bind "$top" /run/top
mount -t tmpfs -o size="$memory_tmp" tmpfs /tmp
mkdir -p "$top" "$out" 2>/dev/null
mount --bind /run/top "$top"
mount --bind /run/out "$out"
ip link set lo up
hostname uml 2>/dev/null

# ovs-vswitchd 3.1 started within the first seconds of uptime gets no handler threads for good.
up=$(cut -d. -f1 /proc/uptime)
[ "$up" -ge 11 ] || sleep $((11 - up))

export KASANE_SECOND_KERNEL=1
cd "$working_directory" || cd /
"${command[@]}" >/run/out/uml.output 2>&1 </dev/null
echo $? >/run/out/uml.status
sync
poweroff -d -f
