export const sessionStates = `
-- The state of a session is one word; sessions/browsers/state.ts has the table of transitions.
--   starting  it has a place under the limits, and its instance is being made
--   ready     it can be used
--   standby   the same, and its instance is frozen until somebody uses it
--   ending    nobody can use it any more; something of its instance may be left, as it is being saved
--   ended     nothing of it is left
-- deleted_at and end_reason are written with "ending", ended_at with "ended".
ALTER TABLE browsers
  ADD COLUMN state text NOT NULL DEFAULT 'starting'
    CHECK (state IN ('starting', 'ready', 'standby', 'ending', 'ended')),
  ADD COLUMN ended_at timestamptz;

UPDATE browsers SET state = 'ended', ended_at = deleted_at
  WHERE deleted_at IS NOT NULL AND profile_save IS DISTINCT FROM 'saving';
UPDATE browsers SET state = 'ending' WHERE deleted_at IS NOT NULL AND profile_save = 'saving';
UPDATE browsers SET state = 'ready' WHERE deleted_at IS NULL AND NOT is_starting;

-- So "deleted_at IS NULL" is another way to say starting, ready or standby. Indexes use it and not the state: an
-- index on the state would have to be written whenever a session goes on standby or wakes.
ALTER TABLE browsers
  ADD CONSTRAINT browsers_state_deleted CHECK ((state IN ('ending', 'ended')) = (deleted_at IS NOT NULL)),
  ADD CONSTRAINT browsers_state_ended CHECK ((state = 'ended') = (ended_at IS NOT NULL));
DROP INDEX browsers_server;
CREATE INDEX browsers_server ON browsers (server_id) WHERE ended_at IS NULL;

-- The same table of transitions as in the program, so that not even a fault of the program stores another one. The
-- condition is all that is evaluated for an allowed change; the function runs only to refuse.
CREATE FUNCTION refuse_session_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'Cannot change session "%" from % to %', NEW.id, OLD.state, NEW.state
    USING ERRCODE = 'check_violation', CONSTRAINT = 'browsers_transition', TABLE = 'browsers';
END $$;
CREATE TRIGGER browsers_transition BEFORE UPDATE OF state ON browsers
  FOR EACH ROW WHEN (OLD.state <> NEW.state AND (OLD.state, NEW.state) NOT IN (
    ('starting', 'ready'), ('starting', 'ending'),
    ('ready', 'standby'), ('ready', 'ending'),
    ('standby', 'ready'), ('standby', 'ending'),
    ('ending', 'ended')
  )) EXECUTE FUNCTION refuse_session_transition();

-- A pool has to know when one of its browsers can be leased, and when its place is free. Standby is no news.
DROP TRIGGER browsers_pool_changed ON browsers;
CREATE TRIGGER browsers_pool_changed AFTER UPDATE OF state, leased_at ON browsers
  FOR EACH ROW WHEN (NEW.pool_id IS NOT NULL AND (
    OLD.leased_at IS DISTINCT FROM NEW.leased_at OR OLD.state = 'starting' OR NEW.state = 'ending'
  )) EXECUTE FUNCTION announce_pool();

ALTER TABLE browsers DROP COLUMN is_starting;

-- Counts the leases of a pooled browser, and their ends; what was signed for an earlier number opens nothing any more.
ALTER TABLE browsers RENAME COLUMN tenure TO lease_number;
`
