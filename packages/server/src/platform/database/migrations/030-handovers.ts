export const handovers = `
-- An agent that waits for a person. The first answer counts: nothing leads from one end to another.
CREATE TABLE handovers (
  id text PRIMARY KEY,
  browser_id text NOT NULL REFERENCES browsers (id),
  -- The lease that it belongs to: who has the browser next is not asked.
  lease_number integer NOT NULL,
  message text NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'done', 'declined', 'cancelled')),
  note text,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  finished_at timestamptz,
  CHECK ((state = 'waiting') = (finished_at IS NULL))
);
CREATE INDEX handovers_browser ON handovers (browser_id);
CREATE INDEX handovers_expired ON handovers (expires_at);
`
