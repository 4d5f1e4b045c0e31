import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from './app.ts'
import type { Config } from './config/config.ts'

/** The text on the terminal when the server is ready. It shows the key only when this start created it. */
export function welcome(app: App, config: Config): string {
  const url = (config.BERTH_PUBLIC_URL?.origin ?? app.address).replace('0.0.0.0', '127.0.0.1')
  const keyFile = join(config.BERTH_DATA_DIR, 'api-key')
  const keyLine = app.firstKey
    ? `Your API key       ${app.firstKey}\n                     (also in ${keyFile})`
    : `Your API key       ${existsSync(keyFile) ? `as before; the first one is in ${keyFile}` : 'the one in BERTH_API_KEY at the first start'}`
  const token = app.firstKey ?? (existsSync(keyFile) ? `$(cat ${keyFile})` : '$BERTH_API_KEY')
  return `
  Berth is ready

  ${keyLine}
  Address            ${url}
  Dashboard          ${url}/dashboard
  Reference          ${url}/docs

  Try it:
  curl -H "Authorization: Bearer ${token}" ${url}/org/projects

`
}
