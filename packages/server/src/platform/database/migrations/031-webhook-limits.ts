export const webhookLimits = `
-- Events that nobody will send, because more waited than a webhook may keep.
ALTER TABLE webhooks
  ADD COLUMN dropped_events bigint NOT NULL DEFAULT 0,
  ADD COLUMN last_dropped_at timestamptz;
`
