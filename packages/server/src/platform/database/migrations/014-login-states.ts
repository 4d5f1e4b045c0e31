export const loginStates = `
-- The state of a login flow is one word; logins/connections/transitions.ts has the table of transitions. SAVING is new:
-- the login succeeded, and its session is being saved into the profile. The step stays for what is shown: how far the
-- flow is, or came.
ALTER TABLE auth_flows ADD COLUMN state text NOT NULL DEFAULT 'DISCOVERING' CHECK (state IN (
  'DISCOVERING', 'AWAITING_INPUT', 'AWAITING_EXTERNAL_ACTION', 'SUBMITTING', 'SAVING',
  'SUCCESS', 'FAILED', 'EXPIRED', 'CANCELED'
));
UPDATE auth_flows SET state = CASE
  WHEN status <> 'IN_PROGRESS' THEN status
  WHEN outcome IS NOT NULL THEN 'SAVING'
  ELSE step
END;
-- With it goes the check that ties it to finished_at.
ALTER TABLE auth_flows
  DROP COLUMN status,
  ADD CONSTRAINT auth_flows_state_finished CHECK (
    (state IN ('SUCCESS', 'FAILED', 'EXPIRED', 'CANCELED')) = (finished_at IS NOT NULL)),
  ADD CONSTRAINT auth_flows_state_outcome CHECK ((state = 'SAVING') = (outcome IS NOT NULL)),
  ADD CONSTRAINT auth_flows_state_step CHECK (CASE
    WHEN state IN ('DISCOVERING', 'AWAITING_INPUT', 'AWAITING_EXTERNAL_ACTION', 'SUBMITTING') THEN step = state
    ELSE (state = 'SUCCESS') = (step = 'COMPLETED')
  END);

-- The same table as in the program, so that not even a fault of the program stores another transition. The condition
-- is all that is evaluated for an allowed change; the function runs only to refuse.
CREATE FUNCTION refuse_login_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'Cannot change login flow "%" from % to %', NEW.id, OLD.state, NEW.state
    USING ERRCODE = 'check_violation', CONSTRAINT = 'auth_flows_transition', TABLE = 'auth_flows';
END $$;
CREATE TRIGGER auth_flows_transition BEFORE UPDATE OF state ON auth_flows
  FOR EACH ROW WHEN (OLD.state <> NEW.state AND NOT (
    OLD.state IN ('DISCOVERING', 'AWAITING_INPUT', 'AWAITING_EXTERNAL_ACTION', 'SUBMITTING') AND NEW.state <> 'SUCCESS'
    OR OLD.state = 'SAVING' AND NEW.state IN ('SUCCESS', 'FAILED', 'CANCELED')
  )) EXECUTE FUNCTION refuse_login_transition();
`
