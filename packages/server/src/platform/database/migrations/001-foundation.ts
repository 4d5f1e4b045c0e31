export const foundation = `
CREATE TABLE organization (
  id text PRIMARY KEY,
  default_project_max_concurrent_sessions integer CHECK (default_project_max_concurrent_sessions > 0),
  created_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO organization (id) VALUES ('org');

CREATE TABLE projects (
  id text PRIMARY KEY,
  name text NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  is_default boolean NOT NULL DEFAULT false,
  max_concurrent_sessions integer CHECK (max_concurrent_sessions > 0),
  max_concurrent_invocations integer CHECK (max_concurrent_invocations > 0),
  max_pooled_sessions integer CHECK (max_pooled_sessions > 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz
);
CREATE UNIQUE INDEX projects_name ON projects (name) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX projects_default ON projects (is_default) WHERE is_default;
CREATE INDEX projects_newest ON projects (created_at DESC, id DESC) WHERE deleted_at IS NULL;

CREATE TABLE api_keys (
  id text PRIMARY KEY,
  public_id text NOT NULL UNIQUE,
  secret_hash bytea NOT NULL,
  masked_key text NOT NULL,
  name text NOT NULL,
  project_id text REFERENCES projects (id),
  created_by_id text NOT NULL,
  created_by_name text,
  created_by_email text NOT NULL,
  lifetime_days integer,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  deleted_at timestamptz
);
CREATE INDEX api_keys_newest ON api_keys (created_at DESC, id DESC);
CREATE INDEX api_keys_project ON api_keys (project_id) WHERE deleted_at IS NULL;

CREATE TABLE audit_logs (
  id bigint GENERATED ALWAYS AS IDENTITY,
  timestamp timestamptz NOT NULL,
  project_id text,
  key_id text NOT NULL,
  request_id text NOT NULL,
  service text NOT NULL,
  auth_strategy text NOT NULL,
  user_id text NOT NULL,
  email text NOT NULL,
  status integer NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  route text NOT NULL,
  domain text NOT NULL,
  duration_ms real NOT NULL,
  client_ip text NOT NULL,
  user_agent text NOT NULL,
  -- Every request adds a row, so one index must do: read backwards it lists the newest first.
  PRIMARY KEY (timestamp, id)
);

-- Append-only: nothing changes a record, and only the retention job, which says so, removes old ones.
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('berth.audit_retention', true) = 'on' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'audit_logs is append-only';
END
$$;
CREATE TRIGGER audit_logs_append_only BEFORE UPDATE OR DELETE ON audit_logs
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_logs_no_truncate BEFORE TRUNCATE ON audit_logs
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

CREATE TABLE idempotency_keys (
  scope text NOT NULL,
  key text NOT NULL,
  request_hash bytea NOT NULL,
  status integer,
  response bytea,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (scope, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

CREATE TABLE master_keys (
  kid text PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE blobs (
  id text PRIMARY KEY,
  kind text NOT NULL,
  sha256 text NOT NULL,
  size_bytes bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
`
