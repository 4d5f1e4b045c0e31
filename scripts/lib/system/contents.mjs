// What is in the system that instances see, by Debian's package names. A package that this machine does not have is left
// out; the rest comes with what it depends on.

export const packages = names(
  // Sessions need them.
  'chromium chromium-l10n tigervnc-standalone-server ffmpeg pulseaudio fontconfig',
  // Sessions with a GPU of Intel or AMD need them.
  'mesa-vulkan-drivers',
  // A shell, and what people expect beside it.
  'bash dash bsdutils coreutils debianutils diffutils findutils grep gzip hostname libc-bin mawk ncurses-base ncurses-bin',
  'perl-base procps sed tar util-linux',
  'bzip2 ca-certificates curl file jq less openssl tzdata unzip wget xz-utils zip',
  // Apps are built with them.
  'git python3 python3-pip python3-venv',
)

/** They administer a machine. Others name them as what they depend on, but nothing in an instance needs them. */
export const unwanted = new Set(
  names(
    'adduser apt apt-utils base-passwd dbus dbus-daemon dbus-user-session debconf dmsetup dpkg init-system-helpers',
    'libpam-modules libpam-modules-bin libpam-runtime libpam-systemd login mount passwd sudo systemd systemd-sysv',
    'sysvinit-utils ucf udev',
  ),
)

/** Directories of packages that are for people to read, or for the package manager. */
export const leftOut = /^\/usr\/share\/(doc|doc-base|man|info|lintian|bug|menu|bash-completion|zsh)\//

/** Packages make these when they are installed, so they do not list them. Without them Chromium starts more slowly. */
export const generated = [
  { of: 'shared-mime-info', path: '/usr/share/mime' },
  { of: 'libglib2.0-0', path: '/usr/share/glib-2.0/schemas/gschemas.compiled' },
  { of: 'libglib2.0-0', path: '/usr/lib/TRIPLET/gio/modules/giomodule.cache' },
  { of: 'libgdk-pixbuf-2.0-0', path: '/usr/lib/TRIPLET/gdk-pixbuf-2.0/2.10.0/loaders.cache' },
  { of: 'libgtk-3-0', path: '/usr/lib/TRIPLET/gtk-3.0/3.0.0/immodules.cache' },
  { of: 'hicolor-icon-theme', path: '/usr/share/icons/hicolor/icon-theme.cache' },
  { of: 'adwaita-icon-theme', path: '/usr/share/icons/Adwaita/icon-theme.cache' },
]

/** As they are, because the operator chooses what is in them. */
export const fonts = ['/usr/share/fonts', '/usr/local/share/fonts']
export const certificates = ['/etc/ssl/certs', '/usr/local/share/ca-certificates']

function names(...lines) {
  return lines.flatMap((line) => line.split(' '))
}
