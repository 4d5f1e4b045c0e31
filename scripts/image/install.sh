#!/bin/sh
# Runs while the image is built: installs Debian's packages, creates the account of the server, and makes the system
# that instances see.
set -eu
cd /opt/berth/scripts
export DEBIAN_FRONTEND=noninteractive

sh image/sources.sh /etc/apt

more=$(echo "${BERTH_INSTANCE_PACKAGES:-}" | tr ',' ' ')
sessions=$(node --print 'require("./lib/system-packages.json").map((entry) => entry.package).join(" ")')
# Slim images leave out documentation. The server reads from this file how old Chromium is.
changelog=/usr/share/doc/chromium/changelog.Debian.gz
# dpkg makes no directory for a file in one that is left out.
mkdir -p "${changelog%/*}"
apt-get update -qq
# Something has to be a session bus for Chromium's libraries. dbus-x11 needs no systemd.
apt-get install -y -qq --no-install-recommends --option Dpkg::Options::=--path-include=$changelog \
  ca-certificates dbus-x11 fontconfig mount passwd tini util-linux \
  $sessions ${TOOLS:-} $more

# A fixed number: files of a volume keep their owner when the image changes.
groupadd --gid 10001 berth
useradd --no-log-init --uid 10001 --gid berth --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin berth
install -d -o berth -g berth -m 0711 /data
ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx
# What runs in Pods of sessions; see packages/server/src/instances/kubernetes.
ln -s /opt/berth/packages/server/bin/berth-pod /usr/local/bin/berth-pod

# Layers have no fractions of seconds. Without this, no font cache would be fresh, and every browser would start slowly.
find /usr/share/fonts /usr/local/share/fonts -type d -exec touch --date="@$(date +%s)" {} +
fc-cache --system-only --force
# Nothing in the image becomes root by starting a program.
find / -xdev -type f -perm /6000 -exec chmod a-s {} +
node image/system.mjs

apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/* /var/cache/ldconfig/aux-cache /tmp/* /root/.npm
# The server's messages say "image" where they would say "npm run".
touch /etc/berth-image
test -f $changelog
