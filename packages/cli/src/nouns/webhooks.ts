import type { FlagRow, Noun } from '../command/rows.ts'

const eventFlag: FlagRow = {
  flags: '--event <type>',
  field: 'event_types',
  help: 'A type of events to send, such as session.ended; repeat it for more',
}

/** What enabling and disabling leave as it is. */
const unchanged = ['url', 'description', 'event_types', 'status']

export const webhooks: Noun = {
  name: 'webhooks',
  aliases: ['webhook'],
  summary: 'Tell your servers what happens',
  columns: 'id url status event_types=events last_success_at=last_success',
  wide: 'description disabled_by consecutive_failures=failures failing_since last_error dropped_events=not_sent created_at',
  verbs: [
    { name: 'list', aliases: ['ls'], op: 'listWebhooks' },
    {
      name: 'create',
      op: 'createWebhook',
      args: '[url]',
      summary: 'Create a webhook; its secret is shown once',
      flags: [{ flags: '--url <address>', field: 'url' }, eventFlag],
    },
    { name: 'get', op: 'getWebhook' },
    {
      name: 'update',
      op: 'updateWebhook',
      flags: [
        eventFlag,
        { flags: '--all-events', field: 'event_types', always: [], help: 'Send events of every type' },
      ],
    },
    {
      name: 'enable',
      op: 'updateWebhook',
      summary: 'Send events again',
      body: { status: 'enabled' },
      without: unchanged,
    },
    {
      name: 'disable',
      op: 'updateWebhook',
      summary: 'Send no events',
      body: { status: 'disabled' },
      without: unchanged,
    },
    {
      name: 'delete',
      aliases: ['rm'],
      op: 'deleteWebhook',
      summary: 'Delete a webhook',
      confirm: 'always',
      done: 'Deleted {id}',
    },
    {
      name: 'test',
      op: 'testWebhook',
      summary: 'Send a test event, and show what the receiver answers',
      endsBySuccess: true,
    },
    {
      name: 'rotate',
      op: 'rotateWebhookSecret',
      summary: 'Make a new secret; it is shown once',
      confirm: 'always',
    },
    {
      name: 'deliveries',
      op: 'listWebhookDeliveries',
      summary: 'List what was sent, newest event first',
      columns: 'id type state attempts next_attempt_at=next finished_at=finished',
      wide: 'subject created_at',
    },
    { name: 'delivery', op: 'getWebhookDelivery', summary: 'Show a delivery with its event and attempts' },
    { name: 'redeliver', op: 'redeliverWebhook', summary: 'Send an event again' },
  ],
}
