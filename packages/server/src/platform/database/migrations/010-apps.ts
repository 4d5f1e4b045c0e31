export const apps = `
-- Code that was uploaded or fetched. All that is kept of it (source, built files, variables, payloads, outputs, logs)
-- is encrypted with its own key, which is sealed by the master key.
CREATE TABLE deployments (
  id text PRIMARY KEY,
  project_id text NOT NULL REFERENCES projects (id),
  status text NOT NULL DEFAULT 'queued'
    CHECK (status IN ('queued', 'in_progress', 'running', 'failed', 'stopped')),
  status_reason text,
  version text NOT NULL,
  is_forced boolean NOT NULL,
  entrypoint text NOT NULL,
  source_type text NOT NULL CHECK (source_type IN ('file', 'github')),
  source_url text,
  source_ref text,
  source_path text,
  source_checksum text,
  sealed_key bytea NOT NULL,
  env_names text[] NOT NULL,
  -- Variables, the deployment's own API key and, until it is built, the token for its repository.
  secrets bytea NOT NULL,
  api_key_id text NOT NULL REFERENCES api_keys (id),
  source_blob_id text REFERENCES blobs (id),
  source_bytes bigint,
  built_blob_id text REFERENCES blobs (id),
  built_bytes bigint,
  runtime text CHECK (runtime IN ('node', 'python')),
  -- Its home: the server that has its files, builds it and runs its invocations.
  server_id text NOT NULL REFERENCES servers (id),
  -- How often that began to build it.
  attempts integer NOT NULL DEFAULT 0,
  -- Another one brings the same app versions: it stops when its last invocation is over.
  superseded_by text,
  -- Of its events and those of its invocations; counted under the lock of this row, so that readers miss none.
  last_event bigint NOT NULL DEFAULT 0,
  queued_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz
);
CREATE INDEX deployments_newest ON deployments (project_id, created_at DESC, id DESC);
CREATE INDEX deployments_unfinished ON deployments (status) WHERE status IN ('queued', 'in_progress', 'running');

CREATE TABLE app_versions (
  id text PRIMARY KEY,
  project_id text NOT NULL REFERENCES projects (id),
  deployment_id text NOT NULL REFERENCES deployments (id),
  app_name text NOT NULL,
  version text NOT NULL,
  actions jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Replaced or stopped: it is remembered for lists of deployments.
  ended_at timestamptz
);
CREATE UNIQUE INDEX app_versions_name ON app_versions (project_id, app_name, version) WHERE ended_at IS NULL;
CREATE INDEX app_versions_deployment ON app_versions (deployment_id);

CREATE TABLE invocations (
  id text PRIMARY KEY,
  project_id text NOT NULL REFERENCES projects (id),
  deployment_id text NOT NULL REFERENCES deployments (id),
  app_name text NOT NULL,
  version text NOT NULL,
  action_name text NOT NULL,
  status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'succeeded', 'failed')),
  status_reason text,
  timeout_seconds integer NOT NULL,
  payload bytea,
  output bytea,
  -- The worker that has it: only this one may say how it ended.
  server_id text REFERENCES servers (id),
  instance_id text,
  -- Of what the worker said, how much is kept: the next server goes on from there.
  last_record bigint NOT NULL DEFAULT 0,
  -- Nanoseconds since 1970, which a timestamp does not have.
  started_ns bigint NOT NULL,
  queued_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  CHECK ((status IN ('succeeded', 'failed')) = (finished_at IS NOT NULL))
);
CREATE INDEX invocations_newest ON invocations (project_id, created_at DESC, id DESC);
CREATE INDEX invocations_live ON invocations (project_id) WHERE finished_at IS NULL;
CREATE INDEX invocations_deployment ON invocations (deployment_id, created_at DESC);
CREATE INDEX invocations_age ON invocations (finished_at);

-- What happened, in the order of its numbers; lines of logs that came together are one row.
CREATE TABLE app_events (
  deployment_id text NOT NULL REFERENCES deployments (id),
  seq bigint NOT NULL,
  invocation_id text REFERENCES invocations (id) ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('log', 'deployment_state', 'app_version_summary', 'invocation_state')),
  payload bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (deployment_id, seq)
);
CREATE INDEX app_events_invocation ON app_events (invocation_id, seq);
CREATE INDEX app_events_age ON app_events (created_at);

-- Instances that run apps, so that the next server knows what it finds.
CREATE TABLE app_instances (
  instance_id text PRIMARY KEY,
  deployment_id text NOT NULL REFERENCES deployments (id),
  server_id text NOT NULL REFERENCES servers (id),
  -- False until it has the app: before, there is nothing in it worth taking over.
  is_set_up boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE browsers ADD COLUMN invocation_id text REFERENCES invocations (id) ON DELETE SET NULL;
CREATE INDEX browsers_invocation ON browsers (invocation_id) WHERE invocation_id IS NOT NULL;

-- A key that belongs to a deployment lives and dies with it, and is nobody else's to see.
ALTER TABLE api_keys ADD COLUMN is_of_deployment boolean NOT NULL DEFAULT false;
`
