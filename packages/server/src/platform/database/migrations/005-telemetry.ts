export const telemetry = `
-- What is captured of it, and how often that was changed; null: nothing.
ALTER TABLE browsers
  ADD COLUMN telemetry text[],
  ADD COLUMN telemetry_version integer NOT NULL DEFAULT 0;

-- Of each session with events: the key they are encrypted with, and where its numbers are.
CREATE TABLE telemetry_sessions (
  session_id text PRIMARY KEY REFERENCES browsers (id),
  sealed_key bytea NOT NULL,
  last_seq bigint NOT NULL DEFAULT 0,
  -- Of the last event that came from the instance, as the agent numbers them.
  agent_position bigint NOT NULL DEFAULT 0,
  stored_bytes bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- No event comes after it.
  ended_at timestamptz
);

-- Events as they were persisted together: lines of JSON, compressed and encrypted.
CREATE TABLE telemetry_segments (
  session_id text NOT NULL REFERENCES telemetry_sessions (session_id),
  first_seq bigint NOT NULL,
  last_seq bigint NOT NULL,
  first_ts bigint NOT NULL,
  last_ts bigint NOT NULL,
  categories integer NOT NULL,
  payload bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (session_id, first_seq)
);
CREATE INDEX telemetry_segments_oldest ON telemetry_segments (created_at);

-- Events that a server saw of a session of another, for that one to take in.
CREATE TABLE telemetry_inbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session_id text NOT NULL REFERENCES browsers (id),
  event jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX telemetry_inbox_session ON telemetry_inbox (session_id, id);
`
