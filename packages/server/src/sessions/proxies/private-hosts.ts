import { PrivateHostError, readPrivateHost } from '../../instances/egress/private-hosts.ts'
import { invalidInput } from '../../platform/errors/app-error.ts'

/** Throws for the first entry that is none, by its place and text. */
export function checkPrivateHosts(list: readonly string[]): void {
  for (const [index, text] of list.entries()) {
    try {
      readPrivateHost(text)
    } catch (error) {
      if (!(error instanceof PrivateHostError)) throw error
      throw invalidInput(`network.private_hosts.${index}`, `${error.message}, but is "${text}"`)
    }
  }
}
