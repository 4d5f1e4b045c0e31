import { isInImage } from '@berth/kit/in-image'

/** The server cannot start with these settings. The message lists every problem, one per line. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(
      `Cannot start: ${problems.join('\n              ')}\nRun ${isInImage ? 'berth --help' : 'npm start -- --help'} for every setting`,
    )
  }
}
