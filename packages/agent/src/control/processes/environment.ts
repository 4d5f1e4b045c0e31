import type { Settings } from '../../settings.ts'

/** The variables every program of the instance has, the way out to the network among them. */
export function programEnvironment(
  { environment, ports }: Pick<Settings, 'environment' | 'ports'>,
  display: string | undefined,
): Record<string, string> {
  const proxy = `http://127.0.0.1:${ports.proxy}`
  const own = 'localhost,127.0.0.1,::1'
  return {
    ...environment,
    SHELL: '/bin/bash',
    // Some programs know only one spelling, and each another.
    http_proxy: proxy,
    https_proxy: proxy,
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    no_proxy: own,
    NO_PROXY: own,
    ...(display !== undefined && { DISPLAY: display }),
  }
}
