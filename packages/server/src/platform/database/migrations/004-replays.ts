export const replays = `
-- A recording of a session. What is being recorded is in a file of the server that has the session, and in the
-- blob store once it has ended and was put together.
CREATE TABLE replays (
  id text PRIMARY KEY,
  project_id text NOT NULL REFERENCES projects (id),
  browser_id text NOT NULL REFERENCES browsers (id),
  server_id text NOT NULL REFERENCES servers (id),
  continues_id text,
  framerate integer NOT NULL,
  max_duration_seconds integer,
  -- starting: the agent is being asked. finishing: ended, and being put together.
  state text NOT NULL DEFAULT 'starting'
    CHECK (state IN ('starting', 'recording', 'finishing', 'ready', 'failed')),
  end_reason text,
  created_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  finished_at timestamptz,
  -- The key of its bytes, sealed; and where in it what happened, sealed, as addresses may tell secrets.
  sealed_key bytea NOT NULL,
  chapters bytea,
  blob_id text REFERENCES blobs (id),
  size_bytes bigint,
  duration_ms bigint,
  lost_ms bigint NOT NULL DEFAULT 0,
  CHECK ((state = 'ready') = (blob_id IS NOT NULL))
);
CREATE INDEX replays_browser ON replays (browser_id, created_at);
CREATE INDEX replays_unfinished ON replays (server_id) WHERE state IN ('starting', 'recording', 'finishing');
CREATE INDEX replays_age ON replays (finished_at);
CREATE INDEX replays_project ON replays (project_id);
`
