export const browsers = `
-- A server and the host it runs on: its instances are where it is.
CREATE TABLE servers (
  id text PRIMARY KEY,
  started_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE browsers (
  id text PRIMARY KEY,
  project_id text NOT NULL REFERENCES projects (id),
  name text,
  tags jsonb NOT NULL DEFAULT '{}',
  headless boolean NOT NULL,
  stealth boolean NOT NULL,
  gpu boolean NOT NULL,
  kiosk_mode boolean NOT NULL,
  timeout_seconds integer NOT NULL,
  viewport_width integer NOT NULL,
  viewport_height integer NOT NULL,
  viewport_refresh_rate integer NOT NULL,
  start_url text,
  -- starting: counted, and its instance is being made. Ended is what has a time of its end.
  is_starting boolean NOT NULL DEFAULT true,
  server_id text NOT NULL REFERENCES servers (id),
  instance_id text,
  uptime_ms bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  end_reason text,
  CHECK ((deleted_at IS NULL) = (end_reason IS NULL))
);
CREATE UNIQUE INDEX browsers_name ON browsers (project_id, name) WHERE deleted_at IS NULL;
CREATE INDEX browsers_live ON browsers (project_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX browsers_newest ON browsers (project_id, created_at DESC, id DESC);
CREATE INDEX browsers_server ON browsers (server_id) WHERE deleted_at IS NULL;

-- Secrets of the service itself, sealed by the master key, the same for all servers.
CREATE TABLE service_secrets (
  name text PRIMARY KEY,
  sealed bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
`
