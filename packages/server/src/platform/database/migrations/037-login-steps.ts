export const loginSteps = `
-- What logins and health checks saw and did, step by step. Kept as long as their row of the timeline.
CREATE TABLE auth_steps (
  -- Of the flow or the check.
  entry_id text NOT NULL,
  number integer NOT NULL,
  flow_id text REFERENCES auth_flows (id) ON DELETE CASCADE,
  check_id text REFERENCES auth_checks (id) ON DELETE CASCADE,
  -- In words. Sealed.
  sealed bytea NOT NULL,
  -- The page as the rules saw it, and its photo. Sealed.
  sealed_page bytea,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (entry_id, number),
  CHECK (entry_id IS NOT DISTINCT FROM coalesce(flow_id, check_id))
);
CREATE INDEX auth_steps_flow ON auth_steps (flow_id) WHERE flow_id IS NOT NULL;
CREATE INDEX auth_steps_check ON auth_steps (check_id) WHERE check_id IS NOT NULL;
`
