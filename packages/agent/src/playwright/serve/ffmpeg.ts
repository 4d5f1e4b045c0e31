// Videos: Playwright only uses an ffmpeg of its own, at a path of its own. The session's is there by a link.
import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { registry } from 'playwright-core/lib/coreBundle'

const FFMPEG = '/usr/bin/ffmpeg'

/** Where the session has none, recordVideo fails with Playwright's own message. */
export function offerFfmpeg(): void {
  const wanted = registry.registry.findExecutable('ffmpeg')?.executablePath()
  if (wanted === undefined) return
  try {
    mkdirSync(dirname(wanted), { recursive: true })
    symlinkSync(FFMPEG, wanted)
  } catch (error) {
    process.stderr.write(`Cannot offer ffmpeg for videos: ${(error as Error).message}\n`)
  }
}
