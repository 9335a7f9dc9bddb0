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

# A moment until the next look or client: without it the loop would take a core from what it waits for.
pause() { sleep 0.02; }

# Files that have the name of the package.
named() {
  find /etc /usr/lib/systemd /var/lib -xdev -path /var/lib/dpkg -prune -o -name '*crossgear*' -print | sort
}

# The machine may have files of that name that are not the package's.
before="$(named)"

# Files that the package left.
leftOver() {
  comm -13 <(echo "$before") <(named) | tr '\n' ' '
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
while [ ! -e "$here/enough" ]; do version || echo refused; pause; done >"$here/clients" 2>/dev/null &
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

# Four gateways on one store, behind the sockets of the service: docs/operate/several-gateways.md.
gateways=(crossgear crossgear@2 crossgear@3 crossgear@4)
pids() { for unit in "${gateways[@]}"; do property MainPID "$unit"; done; }
# Only one of them takes connections: the others stand still.
alone() { for pid in $(pids); do [ "$pid" = "$(property MainPID "$1")" ] || kill -STOP "$pid"; done; }
together() { kill -CONT $(pids); }
# A Faktory connection to the one that takes connections, as descriptor $1.
greeted() {
  eval "exec $1<>/dev/tcp/127.0.0.1/7419"
  printf 'HELLO {"v":2,"wid":"worker-%s","hostname":"h","pid":1,"labels":[]}\r\n' "$1" >&"$1"
  head -c 5 <&"$1" >/dev/null
  read -r <&"$1" && read -r <&"$1"
}

systemctl start crossgear@2 2>/dev/null
say lonely "$(property ActiveState crossgear@2 | grep -c '^active$') $(journalctl --unit=crossgear@2 --output=cat | grep -o 'Several gateways need one Redis' | sort -u)"
systemctl stop crossgear@2
systemd-run --quiet --unit=store --property=Type=exec redis-server --port 6399 --save ''
sed -i 's|^#redis_url =.*|redis_url = "redis://127.0.0.1:6399"|' /etc/crossgear/crossgear.toml
systemctl restart crossgear
systemctl enable --quiet --now crossgear@2 crossgear@3 crossgear@4
say four "$(for unit in "${gateways[@]}"; do property StatusText "$unit"; done | sort | uniq -c | sed 's/^ *//'), $(redis-cli -p 6399 ZCARD xg:nodes) nodes"
say answers "$(for unit in "${gateways[@]}"; do
  alone "$unit"
  exec 5<>/dev/tcp/127.0.0.1/4730
  echo getpid >&5
  [ "$(head -n 1 <&5 | tr -d '\r')" = "OK $(property MainPID "$unit")" ] && printf '%s ' "$unit"
  exec 5>&-
  together
done)"
alone crossgear@2 && greeted 6 && together
alone crossgear@4 && greeted 7 && together
printf 'PUSH {"jid":"booted-02","jobtype":"tick","args":[]}\r\n' >&6
printf 'FETCH default\r\n' >&7
say across "$(timeout 30 grep --max-count=1 -o 'booted-02' <&7)"
exec 6>&- 7>&-
rm "$here/enough"
while [ ! -e "$here/enough" ]; do version || echo refused; pause; done >"$here/clients" 2>/dev/null &
before=$(pids)
for unit in "${gateways[@]}"; do systemctl restart "$unit"; done
systemctl kill --kill-whom=main --signal=KILL crossgear@3
until [ "$(property NRestarts crossgear@3) $(property ActiveState crossgear@3)" = '1 active' ]; do pause; done
touch "$here/enough"
wait
say rolled "$(comm -12 <(echo "$before" | sort) <(pids | sort) | wc -l) the same, $(grep -c refused "$here/clients") refused"
systemctl stop crossgear
say first "$(version) $(property ActiveState)"
before=$(pids)
dpkg --force-depends --install "$here/crossgear.deb" >>"$here/dpkg" 2>&1
say all "$(comm -12 <(echo "$before" | sort) <(pids | sort) | wc -l) the same, $(systemctl is-active "${gateways[@]}" | sort | uniq -c | sed 's/^ *//')"

say exposure "$(systemd-analyze security --no-pager crossgear.service | grep -o 'level for.*: [0-9.]*' | grep -o '[0-9.]*$')"
say failed "$(systemctl list-units --failed --plain --no-legend 'crossgear*' | wc -l)"
journalctl --unit=crossgear --output=cat >"$here/journal"

dpkg --purge crossgear >>"$here/dpkg" 2>&1
say purged "$(property LoadState) $(property LoadState crossgear-gearman.socket) $(version 2>/dev/null || echo refused)"
say emptied "$(leftOver)"

# Next to the server of Debian, which has the port.
systemd-run --quiet --unit=other --property=Type=exec gearmand --listen 127.0.0.1 --log-file none
until version >/dev/null 2>&1; do pause; done
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
