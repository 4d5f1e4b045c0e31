// A bare Chromium for each browser, with the flags of a session. It needs no way out, so it has no proxy.
import { chromiumFlags } from '../../packages/agent/src/chromium/flags.ts'
import type { Cleanup } from '../bench/cleanup.ts'
import { BareChromium } from '../bench/subjects/bare-chromium.ts'
import type { Arm } from './arm.ts'
import { serveWithReferenceMapper } from './reference-mapper.ts'
import { SIZE } from './berth-arm.ts'

export function bareArm(cleanup: Cleanup, { cores }: { cores: string }): Arm {
  return {
    name: 'bare',
    async open() {
      const chromium = await BareChromium.start(cleanup, { cores, isHeadless: true, flags: sessionFlags })
      const { wsUrl: cdpUrl } = chromium
      return {
        cdpUrl,
        serveBidi: (client) => serveWithReferenceMapper(client, cdpUrl),
        close: () => chromium.end(),
      }
    },
  }
}

function sessionFlags(profile: string): string[] {
  return chromiumFlags({
    browser: { headless: true, kiosk: false, ...SIZE },
    profile,
    installsExtensions: false,
    devtoolsPort: 0,
    proxyPort: undefined,
    restores: false,
    hasTabs: false,
  })
}
