// How Chromium renders on a GPU. The server's probe and the agent start it in the same way, so that a GPU that the probe
// found is one that sessions can use.

/**
 * Vulkan, because it renders without a display of its own: an X server such as Xvnc has no DRI3, so finished frames are
 * copied into the window instead of being presented by a swap chain.
 */
export const gpuFlags: readonly string[] = [
  '--use-gl=angle',
  '--use-angle=vulkan',
  '--disable-vulkan-surface',
  // The list is about desktops with old drivers. What works here was tried.
  '--ignore-gpu-blocklist',
  // Rather no WebGL than a slow one that nobody notices.
  '--disable-software-rasterizer',
  // Otherwise a page that crashes the GPU process some times would cost the session its GPU.
  '--disable-gpu-process-crash-limit',
  // And otherwise no page could use the GPU for minutes after that.
  '--disable-domain-blocking-for-3d-apis',
]

export const gpuFeatures: readonly string[] = ['Vulkan']

/** Paths inside an instance with a GPU. */
export const gpuPaths = {
  /** Libraries of the driver, if the system does not have them. */
  libraries: '/run/berth-gpu',
  /** Names the drivers that Vulkan may load, one file each. Chromium's sandbox allows reading them here. */
  drivers: '/etc/vulkan/icd.d',
} as const

/** Whether a renderer, as WebGL names it, is a program and no GPU. */
export const isSoftwareRenderer = (renderer: string): boolean =>
  /swiftshader|llvmpipe|softpipe|lavapipe|software/i.test(renderer)

/** `drivers`: the files in gpuPaths.drivers. */
export function gpuEnvironment(drivers: readonly string[]): Record<string, string> {
  return {
    VK_DRIVER_FILES: drivers.map((name) => `${gpuPaths.drivers}/${name}`).join(':'),
    LD_LIBRARY_PATH: gpuPaths.libraries,
  }
}
