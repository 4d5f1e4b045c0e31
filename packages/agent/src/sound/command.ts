// How PulseAudio is started.
import { SOUND_CHANNELS, SOUND_RATE } from '@berth/contracts/recording'

export const SERVER = '/usr/bin/pulseaudio'
/** What recordings and viewers get: 16 bits, little endian. */
export const soundFormat = { rate: SOUND_RATE, channels: SOUND_CHANNELS } as const

/** What a page sees, once it may know the names of devices: as on a computer of today. */
const DESCRIPTION = 'Built-in Audio Analog Stereo'
const FORMAT = `rate=${soundFormat.rate} channels=${soundFormat.channels} format=s16le`

export interface SoundStart {
  /** For what PulseAudio wants to write. */
  readonly directory: string
  /** Where programs connect. The server gets the socket itself as descriptor 3. */
  readonly socket: string
  /** Where the agent gets what is played. */
  readonly output: string
  /** It ends when nobody has been connected for this time. */
  readonly idleSeconds: number
}

export function commandOf({
  directory,
  socket,
  output,
  idleSeconds,
}: SoundStart): [string, string[], NodeJS.ProcessEnv] {
  const modules = [
    // No rewinding: what is played is decided at most 50 ms ahead, so that recordings have it in time.
    `module-null-sink sink_name=speakers ${FORMAT} norewinds=1 sink_properties="device.description='${DESCRIPTION}'"`,
    // Whoever can reach the socket is a program of this session.
    `module-native-protocol-unix socket=${socket} auth-anonymous=1 auth-cookie-enabled=0 srbchannel=no`,
    `module-simple-protocol-unix socket=${output} ${FORMAT} source=speakers.monitor record=true playback=false`,
  ]
  const options = [
    '-n',
    '--daemonize=no',
    '--use-pid-file=no',
    '--disallow-module-loading=yes',
    '--disallow-exit=no',
    `--exit-idle-time=${idleSeconds}`,
    // Memory of programs is not mapped: everything comes through the socket.
    '--disable-shm=yes',
    '--realtime=no',
    '--high-priority=no',
    // It says when it plays only so.
    '--log-level=debug',
    '--log-target=stderr',
  ]
  // It takes the socket from whoever starts it, as from systemd, if it is told its own process id.
  const start = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
  const words = ['-c', start, 'sh', SERVER, ...options, ...modules.flatMap((module) => ['-L', module])]
  const env = {
    PATH: '/usr/bin:/bin',
    LANG: 'C',
    HOME: directory,
    PULSE_RUNTIME_PATH: directory,
    PULSE_STATE_PATH: directory,
    DBUS_SESSION_BUS_ADDRESS: 'disabled:',
  }
  return ['/bin/sh', words, env]
}
