// A bare Chromium for each browser, with the flags of a session. It needs no way out, so it has no proxy.
import { freePort } from '../../tests/fixtures/free-port.ts'
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
      const devtoolsPort = await freePort()
      const chromium = await BareChromium.start(cleanup, {
        cores,
        isHeadless: true,
        flags: (profile) => sessionFlags(profile, devtoolsPort),
        // The tests read what it downloads, and give it files of theirs.
        opensOurFiles: true,
      })
      const { wsUrl: cdpUrl } = chromium
      return {
        cdpUrl,
        serveBidi: (client) => serveWithReferenceMapper(client, cdpUrl),
        close: () => chromium.end(),
      }
    },
  }
}

/** The port must not be 0: with that, Chromium tells pages that it is automated (`navigator.webdriver`). */
function sessionFlags(profile: string, devtoolsPort: number): string[] {
  return chromiumFlags({
    browser: { headless: true, kiosk: false, ...SIZE },
    profile,
    installsExtensions: false,
    devtoolsPort,
    proxyPort: undefined,
    restores: false,
    hasTabs: false,
  })
}
