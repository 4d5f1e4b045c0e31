import { existsSync } from 'node:fs'

/** In our image there is no npm script to run, and what is missing or old comes with another image. */
export const isInImage = existsSync('/etc/berth-image')
