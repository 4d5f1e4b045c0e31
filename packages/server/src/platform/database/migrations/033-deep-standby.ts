export const deepStandby = `
-- As the session's own server saw it last. Other servers show it, so a few seconds of delay do no harm.
ALTER TABLE browsers
  ADD COLUMN standby_depth text CHECK (standby_depth IN ('light', 'deep')),
  ADD COLUMN resident_bytes bigint,
  ADD COLUMN last_wake_ms integer;
`
