#!/bin/bash
# Runs inside a booted system: installs the package and uses its service. Writes `name=value` lines.
set -u
here=$(dirname "$0")
say() { printf '%s=%s\n' "$1" "$2" >>"$here/result"; }
property() { systemctl show --property="$1" --value "${2:-crossgear.service}"; }
pid() { property MainPID; }

# A line from the Gearman port; nothing where the port refuses.
version() {
  exec 3<>/dev/tcp/127.0.0.1/4730 || return 1
  echo version >&3
  head -n 1 <&3 | tr -d '\r'
  exec 3>&-
}

# Files that the package left.
leftOver() {
  find /etc /usr/lib/systemd /var/lib -xdev -path /var/lib/dpkg -prune -o -name '*crossgear*' -print | tr '\n' ' '
}

# Ends with the line of the journal.
logged() {
  timeout 30 journalctl --unit=crossgear --lines=all --follow --output=cat | grep --max-count=1 -o -e "$1"
}

dpkg --force-depends --install "$here/crossgear.deb" >"$here/dpkg" 2>&1 || exit 1
say started "$(property ActiveState) $(property Type) $(property StatusText)"
# Users of systemd's own begin there.
say user "$([ "$(stat --format=%u "/proc/$(pid)")" -ge 61184 ] && echo dynamic)"

gearman -w -c 1 -f upper -- tr a-z A-Z >/dev/null 2>&1 &
say gearman "$(printf hello | timeout 30 gearman -f upper)"
gearman -w -c 1 -f mail -- tee "$here/mail" >/dev/null 2>&1 &
{
  printf 'HELLO {"v":2}\r\nPUSH {"jid":"booted-01","jobtype":"mail","args":["bridged"]}\r\n' >&4
  head -n 3 <&4 >/dev/null
} 4<>/dev/tcp/127.0.0.1/7419
wait
say faktory "$(cat "$here/mail")"

before=$(pid)
sed -i 's/^#log_level = .*/log_level = "debug"/' /etc/crossgear/crossgear.toml
systemctl reload crossgear
say reload "$(logged '--log-level changed') $([ "$(pid)" = "$before" ] && echo same)"

# Clients connect one after the other while the service ends and comes again.
while [ ! -e "$here/enough" ]; do version || echo refused; done >"$here/clients" 2>/dev/null &
systemctl restart crossgear
touch "$here/enough"
wait
say restart "$([ "$(pid)" != "$before" ] && echo other) $(grep -c refused "$here/clients") refused"
say clients "$(sort -u "$here/clients" | grep -v '^$' | tr '\n' ' ')"

systemctl stop crossgear
say stopped "$(property ActiveState)"
say activated "$(version)"

before=$(pid)
dpkg --force-depends --install "$here/crossgear.deb" >>"$here/dpkg" 2>&1
say upgraded "$([ "$(pid)" != "$before" ] && echo other) $(property ActiveState)"

say exposure "$(systemd-analyze security --no-pager crossgear.service | grep -o 'level for.*: [0-9.]*' | grep -o '[0-9.]*$')"
say failed "$(systemctl list-units --failed --plain --no-legend 'crossgear*' | wc -l)"
journalctl --unit=crossgear --output=cat >"$here/journal"

dpkg --purge crossgear >>"$here/dpkg" 2>&1
say purged "$(property LoadState) $(property LoadState crossgear-gearman.socket) $(version 2>/dev/null || echo refused)"
say emptied "$(leftOver)"

# Next to the server of Debian, which has the port.
systemd-run --quiet --unit=other --property=Type=exec gearmand --listen 127.0.0.1 --log-file none
until version >/dev/null 2>&1; do :; done
dpkg --force-depends --install "$here/crossgear.deb" >"$here/beside" 2>&1
say taken "$(grep -c 'another program has port' "$here/beside") $(grep -o 'another program has port [0-9]*' "$here/beside")"
say shared "$(property ActiveState) $(property StatusText), $(property NRestarts) restarts, $(property LoadState crossgear-gearman.socket)"
dpkg --force-depends --install "$here/crossgear.deb" >"$here/again" 2>&1
say again "$(grep -c 'another program' "$here/again") $(property ActiveState) $(property StatusText)"
# Removed, and installed again later: its settings are still there.
{ dpkg --remove crossgear && rm /etc/crossgear/crossgear.env; } >>"$here/dpkg" 2>&1
dpkg --force-depends --install "$here/crossgear.deb" >"$here/returned" 2>&1
say returned "$(grep -c 'another program has port' "$here/returned") $(property ActiveState) $(property StatusText)"
systemctl stop other
# The way that the installer named.
sed -i '/^CROSSGEAR_GEARMAN_PORT=off$/d' /etc/crossgear/crossgear.env
sh -c "$(grep '^ *dpkg-reconfigure' "$here/beside")" >/dev/null 2>&1
say given "$(property ActiveState) $(property StatusText)"
dpkg --purge crossgear >>"$here/dpkg" 2>&1
say left "$(leftOver)"
