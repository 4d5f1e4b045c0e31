// Chromium's command line. Each flag is here because the instance needs it, because it saves memory or
// processor time, or because it stops Chromium from contacting its vendor or prompting a user. No flag
// changes what a page sees, beyond what an instance requires and what every driver of Chromium does.
import { gpuFeatures, gpuFlags } from '@berth/contracts/gpu'
import type { BrowserStart } from '@berth/contracts/link'

export interface FlagOptions {
  readonly browser: BrowserStart
  readonly profile: string
  /** Whether policies install extensions, which needs the updater that otherwise only contacts the vendor. */
  readonly installsExtensions: boolean
  readonly devtoolsPort: number
  /** Undefined when the instance has a network. */
  readonly proxyPort: number | undefined
  /** Restores the previous run's session cookies and, if there are any, its tabs. */
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
  // Some components ignore the flag above; this sets the URL they ask.
  '--component-updater=url-source=about:blank',
  // Chromium asks Google who is signed in at every start, whatever the preferences say. It refuses to dial
  // port 1. --gaia-url would show a warning bar.
  '--gaia-config-contents={"urls":{"gaia_url":{"url":"https://localhost:1"}}}',
  '--disable-domain-reliability',
  '--disable-sync',
  '--disable-field-trial-config',
  '--metrics-recording-only',
  '--no-pings',
  '--disable-breakpad',
  '--disable-crash-reporter',
]

// Clients drive background tabs, and expect them to run like visible ones.
const BACKGROUND_RUNS = [
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
]

const LEAN = ['--disable-component-extensions-with-background-pages', '--no-service-autorun']

const DISABLED_FEATURES = [
  // Contact the vendor, or download models for features that need a user.
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
  // Ask whether a page may reach the local network, where nobody answers. Egress decides that.
  'LocalNetworkAccessChecks',
  'LocalNetworkAccessChecksWebSockets',
  // Keeps a renderer of some 40 MB for a page that may never come.
  'SpareRendererForSitePerProcess',
  // A renderer for the address bar's popup, loaded before anybody types.
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxPopup',
  // Windows and bars for a person.
  'GlobalMediaControls',
  'InterestFeedContentSuggestions',
  'Translate',
]

const ENABLED_FEATURES = [
  // The network service runs in its own process; this sandboxes it.
  'NetworkServiceSandbox',
  // Without it, a screenshot of a tab in the background waits for a frame that may never come, for example when several
  // tabs are asked at once. Playwright enables it, too.
  'CDPScreenshotNewSurface',
]

/**
 * Lets every page offer tools to agents. A person's browser has it only at sites with a token of Chromium's makers, so a
 * browser that should look like one does not get it.
 */
const TOOLS_OF_PAGES = 'WebMCP'

/** WebGL needs a program that renders. */
const WITHOUT_GPU = ['--enable-unsafe-swiftshader']

/** Height of tabs and address bar. An estimate that saves time; headless-size.ts corrects it. */
const BARS_PIXELS = 87

export function chromiumFlags(options: FlagOptions): string[] {
  const { browser, profile, installsExtensions, devtoolsPort, proxyPort, restores, hasTabs } = options
  const { headless, width, locale, blocksPopups = false, gpu = false } = browser
  const features = [
    ...ENABLED_FEATURES,
    ...(blocksPopups ? [] : [TOOLS_OF_PAGES]),
    ...(gpu ? gpuFeatures : []),
  ]
  const height = browser.height + (headless ? BARS_PIXELS : 0)
  return [
    ...(headless ? ['--headless=new', `--screen-info={${width}x${height}}`] : ['--ozone-platform=x11']),
    '--window-position=0,0',
    `--window-size=${width},${height}`,
    `--user-data-dir=${profile}`,
    `--remote-debugging-port=${devtoolsPort}`,
    ...(proxyPort === undefined ? NETWORK : proxy(proxyPort)),
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    ...(gpu ? gpuFlags : WITHOUT_GPU),
    ...(locale === undefined ? [] : [`--lang=${locale}`, `--accept-lang=${acceptedLanguages(locale)}`]),
    // Playwright, Puppeteer and ChromeDriver all do so, and their users rely on it.
    ...(blocksPopups ? [] : ['--disable-popup-blocking']),
    ...NOBODY_TO_TALK_TO,
    ...(installsExtensions ? [] : ['--disable-background-networking']),
    ...NO_CALLS_HOME,
    ...BACKGROUND_RUNS,
    ...LEAN,
    `--enable-features=${features.join(',')}`,
    `--disable-features=${DISABLED_FEATURES.join(',')}`,
    ...(restores ? ['--restore-last-session'] : []),
    // With restored tabs this would open an extra one.
    ...(hasTabs ? [] : ['about:blank']),
  ]
}

/** Only TCP leaves an instance. */
const NETWORK = ['--disable-quic']

function proxy(port: number): string[] {
  return [
    `--proxy-server=http://127.0.0.1:${port}`,
    // Otherwise pages would reach loopback directly, including the debugging port.
    '--proxy-bypass-list=<-loopback>',
  ]
}

/** The list that Chromium uses in that language: de-DE, de, and English last. */
function acceptedLanguages(locale: string): string {
  const [language = locale] = locale.split('-', 1)
  return [...new Set([locale, language, 'en-US', 'en'])].join(',')
}
