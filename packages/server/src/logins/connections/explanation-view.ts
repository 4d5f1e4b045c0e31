// A login, explained as the API shows it.
import type { LoginExplanation, TimelineEvent } from '@berth/contracts/auth-connections'
import { reasons } from '@berth/login/run/step'
import type { ReadStep, StepPage } from '../steps/step-log.ts'
import type { ConnectionRecord } from './types.ts'

export function toExplanation(
  { id, domain }: ConnectionRecord,
  {
    event,
    steps,
    pages,
  }: { event: TimelineEvent; steps: readonly ReadStep[]; pages: ReadonlyMap<number, StepPage> },
): LoginExplanation {
  return {
    id: event.id,
    connection_id: id,
    domain,
    type: event.type,
    timestamp: event.timestamp,
    status: event.status,
    ...(event.error_code !== undefined && { error_code: event.error_code }),
    ...(event.error_message !== undefined && { error_message: event.error_message }),
    ...(event.website_error !== undefined && { website_error: event.website_error }),
    steps: steps.map((step) => ({
      number: step.number,
      timestamp: step.at,
      reason: step.reason,
      why: reasons[step.reason],
      saw: step.saw,
      did: [...step.did],
      ...(step.url !== undefined && { url: step.url }),
      ...(step.title !== undefined && { title: step.title }),
      has_picture: step.hasPage,
      has_photo: step.hasPage && step.isPhoto,
      ...toPage(pages.get(step.number)),
    })),
  }
}

function toPage(kept: StepPage | undefined) {
  return kept ? { page: kept.page, ...(kept.read && { read: kept.read }) } : {}
}
