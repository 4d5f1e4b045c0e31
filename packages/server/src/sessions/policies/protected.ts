// Policies that are Berth's own: with them a session could be taken from its hands, or what keeps it in its place be
// loosened. What a tenant's programs may do anyway is not listed.

const names = [
  // How clients and the agent reach the browser.
  'RemoteDebuggingAllowed',
  'ChromeForTestingAllowed',
  'WebDriverOverridesIncompatiblePolicies',
  'HeadlessMode',
  // How extensions come into it; they are asked for by `extensions`.
  'BlockExternalExtensions',
  'ExtensionAllowedTypes',
  'ExtensionDeveloperModeSettings',
  'ExtensionManifestV2Availability',
  'ExtensionSettings',
  'ExtensionUnpublishedAvailability',
  // Programs outside of the browser.
  'AlternativeBrowserParameters',
  'AlternativeBrowserPath',
  // Its sandboxes, its files, and whether it ends when it is told to.
  'AudioSandboxEnabled',
  'BackgroundModeEnabled',
  'DiskCacheDir',
  'NetworkServiceSandboxEnabled',
  'UserDataDir',
  // Another administrator.
  'CloudPolicyOverridesPlatformPolicy',
]

const families = [
  // How the browser reaches the network, which is the egress and the session's proxy.
  /^proxy/i,
  /^enableproxy/i,
  /^webrtc(ip|local|udp)/i,
  /^developertools/i,
  /^extensioninstall/i,
  /^nativemessaging/i,
  /^browserswitcher/i,
  /^cloudmanagement/i,
]

// However it is written: Chromium passes over what is not exactly a name, but a next version may be milder.
const lowerCase = new Set(names.map((name) => name.toLowerCase()))

export function isProtected(name: string): boolean {
  return lowerCase.has(name.toLowerCase()) || families.some((family) => family.test(name))
}
