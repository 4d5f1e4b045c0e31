import type { Settings } from '../../instance/settings.ts'

/** The variables of every program in the instance, including the proxy. */
export function programEnvironment(
  { environment, ports }: Pick<Settings, 'environment' | 'ports'>,
  display: string | undefined,
): Record<string, string> {
  const proxy = `http://127.0.0.1:${ports.proxy}`
  const own = 'localhost,127.0.0.1,::1'
  return {
    ...environment,
    SHELL: '/bin/bash',
    // Some programs read only one spelling, and not all the same one.
    http_proxy: proxy,
    https_proxy: proxy,
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    no_proxy: own,
    NO_PROXY: own,
    ...(display !== undefined && { DISPLAY: display }),
  }
}
