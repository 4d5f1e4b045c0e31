// The dashboard: Vite splits it into parts that a page loads when it is opened. Names of parts have a hash, so browsers
// may keep them for ever.
import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { build, type Rollup } from 'vite'
import type { Output } from './output.ts'

/** The server shows the page at this path, and below it. */
const BASE = '/dashboard/'

export async function buildDashboard({ src, output }: { src: string; output: Output }): Promise<void> {
  const built = await build({
    root: join(src, 'dashboard'),
    base: BASE,
    configFile: false,
    envDir: false,
    logLevel: 'warn',
    plugins: [react()],
    // The published client asks for it, and there is none in a browser.
    define: { 'process.env': '{}' },
    build: {
      write: false,
      assetsDir: 'files',
      // The policy of the page allows no inline files.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      target: ['chrome111', 'firefox114', 'safari16.4'],
      chunkSizeWarningLimit: 1_000,
    },
  })
  for (const { output: files } of [built].flat() as Rollup.RollupOutput[]) {
    for (const file of files) await output.write(file.fileName, 'code' in file ? file.code : file.source)
  }
}
