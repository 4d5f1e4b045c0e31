// How Chromium is started. A flag is here because the instance needs it, because it spares memory or
// processor time, or because it keeps Chromium from talking to its vendor or to a person who is not
// there. None changes what a page sees, but for what an instance is.
import type { BrowserStart } from '@berth/contracts/link'

export interface FlagOptions {
  readonly browser: BrowserStart
  readonly profile: string
  /** That policies name: it is done by what otherwise only calls home. */
  readonly installsExtensions: boolean
  readonly ports: { readonly devtools: number; readonly proxy: number }
  /** Goes on where the one before it ended: with its session cookies and, if there are any, its tabs. */
  readonly restores: boolean
  readonly hasTabs: boolean
}

const NOBODY_TO_TALK_TO = [
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-default-apps',
  '--disable-search-engine-choice-screen',
  '--disable-prompt-on-repost',
  '--disable-hang-monitor',
  '--hide-crash-restore-bubble',
  '--password-store=basic',
]

const NO_CALLS_HOME = [
  '--disable-component-update',
  // Components that ask for themselves do not care for the flag above; this is where they ask.
  '--component-updater=url-source=about:blank',
  // Who is signed in to Google is asked at every start, whatever the preferences say. Port 1 is one that
  // Chromium refuses to dial. Not --gaia-url, of which a bar would warn.
  '--gaia-config-contents={"urls":{"gaia_url":{"url":"https://localhost:1"}}}',
  '--disable-domain-reliability',
  '--disable-sync',
  '--disable-field-trial-config',
  '--metrics-recording-only',
  '--no-pings',
  '--disable-breakpad',
  '--disable-crash-reporter',
]

// A client drives tabs that nobody looks at, and expects them to run as if somebody did.
const BACKGROUND_RUNS = [
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
]

const LEAN = ['--disable-component-extensions-with-background-pages', '--no-service-autorun']

const DISABLED_FEATURES = [
  // Talk to the vendor, or fetch models for features without a user.
  'AutofillServerCommunication',
  'CertificateTransparencyComponentUpdater',
  'NetworkTimeServiceQuerying',
  'OptimizationGuideModelDownloading',
  'OptimizationHints',
  'OptimizationHintsFetching',
  'OptimizationTargetPrediction',
  // Look for devices in a network that has none.
  'DialMediaRouteProvider',
  'MediaRouter',
  // Keeps a renderer of some 40 MB for a page that may never come.
  'SpareRendererForSitePerProcess',
  // A renderer with what would drop down from the address bar, loaded before anybody types there.
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxPopup',
  // Windows and bars for a person.
  'GlobalMediaControls',
  'InterestFeedContentSuggestions',
  'Translate',
]

// The network service speaks to the outside in a process of its own; it shall be a sandboxed one.
const ENABLED_FEATURES = ['NetworkServiceSandbox']

/** Of tabs and address bar. A guess that saves time: headless-size.ts makes it right where it is wrong. */
const BARS_PIXELS = 87

export function chromiumFlags(options: FlagOptions): string[] {
  const { browser, profile, installsExtensions, ports, restores, hasTabs } = options
  const { headless, width, locale } = browser
  const height = browser.height + (headless ? BARS_PIXELS : 0)
  return [
    ...(headless ? ['--headless=new', `--screen-info={${width}x${height}}`] : ['--ozone-platform=x11']),
    '--window-position=0,0',
    `--window-size=${width},${height}`,
    `--user-data-dir=${profile}`,
    `--remote-debugging-port=${ports.devtools}`,
    `--proxy-server=http://127.0.0.1:${ports.proxy}`,
    // Without it loopback would be reached directly, and so would the debugging port.
    '--proxy-bypass-list=<-loopback>',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    // Without a GPU, WebGL is there only in software.
    '--enable-unsafe-swiftshader',
    ...(locale === undefined ? [] : [`--lang=${locale}`, `--accept-lang=${acceptedLanguages(locale)}`]),
    ...NOBODY_TO_TALK_TO,
    ...(installsExtensions ? [] : ['--disable-background-networking']),
    ...NO_CALLS_HOME,
    ...BACKGROUND_RUNS,
    ...LEAN,
    `--enable-features=${ENABLED_FEATURES.join(',')}`,
    `--disable-features=${DISABLED_FEATURES.join(',')}`,
    ...(restores ? ['--restore-last-session'] : []),
    // Otherwise it would be one more.
    ...(hasTabs ? [] : ['about:blank']),
  ]
}

/** As Chromium in that language has them: de-DE, de, and English last. */
function acceptedLanguages(locale: string): string {
  const [language = locale] = locale.split('-', 1)
  return [...new Set([locale, language, 'en-US', 'en'])].join(',')
}
