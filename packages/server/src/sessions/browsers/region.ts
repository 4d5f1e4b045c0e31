import { invalidInput } from '../../platform/errors/app-error.ts'

/** A server makes sessions and pools of its own region only. */
export function checkRegion(asked: string | undefined, own: string): void {
  if (asked === undefined || asked === own) return
  throw invalidInput(
    'region',
    `must be "${own}", the region of this server (BERTH_REGION), or be left out; it is "${asked}"`,
  )
}
