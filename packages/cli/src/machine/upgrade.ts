import type { Context } from '../command/context.ts'
import { VERSION } from '../basics/version.ts'
import { findClone } from './clone.ts'

export async function run({ terminal }: Context): Promise<void> {
  const clone = findClone(undefined)
  terminal.out.write(`This is berth ${VERSION}. `)
  terminal.out.write(
    clone === undefined
      ? 'Install the package of the newer server again with npm.\n'
      : `It belongs to the clone ${clone}:\n  cd ${clone} && git pull && npm run setup\n`,
  )
}
