// Policies that only Berth may set: others could take over a session or weaken its isolation. The list leaves out what
// a tenant's programs may do anyway.

const names = [
  // How clients and the agent reach the browser.
  'RemoteDebuggingAllowed',
  'ChromeForTestingAllowed',
  'WebDriverOverridesIncompatiblePolicies',
  'HeadlessMode',
  // How extensions are installed; callers use `extensions` for that.
  'BlockExternalExtensions',
  'ExtensionAllowedTypes',
  'ExtensionDeveloperModeSettings',
  'ExtensionManifestV2Availability',
  'ExtensionSettings',
  'ExtensionUnpublishedAvailability',
  // Programs outside of the browser.
  'AlternativeBrowserParameters',
  'AlternativeBrowserPath',
  // Sandboxes, files, and whether the browser exits on request.
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

// Ignores case: Chromium requires exact names today, but a later version may not.
const lowerCase = new Set(names.map((name) => name.toLowerCase()))

export function isProtected(name: string): boolean {
  return lowerCase.has(name.toLowerCase()) || families.some((family) => family.test(name))
}
