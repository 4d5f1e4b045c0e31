export const authConnections = `
CREATE TABLE auth_connections (
  id text PRIMARY KEY,
  project_id text NOT NULL REFERENCES projects (id),
  domain text NOT NULL,
  profile_id text NOT NULL REFERENCES profiles (id),
  status text NOT NULL DEFAULT 'NEEDS_AUTH' CHECK (status IN ('AUTHENTICATED', 'NEEDS_AUTH')),
  allowed_domains text[] NOT NULL DEFAULT '{}',
  login_url text,
  learned_login_url text,
  post_login_url text,
  -- As the API has it: one of ours by its name, or an item of a provider.
  credential jsonb,
  proxy_id text REFERENCES proxies (id),
  save_credentials boolean NOT NULL,
  record_session boolean NOT NULL,
  health_checks boolean NOT NULL,
  health_check_interval integer NOT NULL,
  auto_reauth boolean NOT NULL,
  -- As it was asked for, and by a client of which age.
  telemetry jsonb,
  telemetry_age text NOT NULL,
  -- What the last success left: the way it went and how being signed in looks. Sealed.
  memory bytea,
  has_plan boolean NOT NULL DEFAULT false,
  requirements text[],
  sso_provider text,
  last_success_at timestamptz,
  last_auth_check_at timestamptz,
  -- After a failure that trying again would only make worse.
  is_reauth_stopped boolean NOT NULL DEFAULT false,
  next_check_at timestamptz,
  -- Which server looks at it just now, and until when that is believed.
  checked_by text,
  checked_until timestamptz,
  flow_id text,
  created_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz
);
CREATE UNIQUE INDEX auth_connections_pair ON auth_connections (profile_id, domain) WHERE deleted_at IS NULL;
CREATE INDEX auth_connections_newest ON auth_connections (project_id, created_at DESC, id DESC)
  WHERE deleted_at IS NULL;
CREATE INDEX auth_connections_proxy ON auth_connections (proxy_id)
  WHERE deleted_at IS NULL AND proxy_id IS NOT NULL;
CREATE INDEX auth_connections_credential ON auth_connections (project_id, (credential->>'name'))
  WHERE credential IS NOT NULL;
CREATE INDEX auth_connections_due ON auth_connections (next_check_at)
  WHERE deleted_at IS NULL AND next_check_at IS NOT NULL;

CREATE TABLE auth_flows (
  id text PRIMARY KEY,
  connection_id text NOT NULL REFERENCES auth_connections (id),
  type text NOT NULL CHECK (type IN ('LOGIN', 'REAUTH')),
  status text NOT NULL DEFAULT 'IN_PROGRESS'
    CHECK (status IN ('IN_PROGRESS', 'SUCCESS', 'FAILED', 'EXPIRED', 'CANCELED')),
  step text NOT NULL DEFAULT 'DISCOVERING',
  -- Grows with every change that is told.
  version integer NOT NULL DEFAULT 1,
  server_id text NOT NULL REFERENCES servers (id),
  expires_at timestamptz NOT NULL,
  -- Earlier than that while it waits for somebody.
  deadline_at timestamptz NOT NULL,
  proxy_id text,
  is_recorded boolean NOT NULL,
  telemetry jsonb,
  telemetry_age text NOT NULL,
  handoff_hash bytea,
  -- Until it is used. Sealed.
  handoff_code bytea,
  -- What it waits for.
  question jsonb,
  -- What was submitted, until the server of the flow has it. Sealed.
  submission bytea,
  -- What a login came to, until its profile is saved. Sealed.
  outcome bytea,
  browser_id text,
  replay_id text,
  telemetry_captured boolean NOT NULL DEFAULT false,
  website_error text,
  error_code text,
  error_message text,
  sso_provider text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  CHECK ((status = 'IN_PROGRESS') = (finished_at IS NULL))
);
-- A connection has one at a time, whoever begins it.
CREATE UNIQUE INDEX auth_flows_running ON auth_flows (connection_id) WHERE finished_at IS NULL;
CREATE INDEX auth_flows_newest ON auth_flows (connection_id, created_at DESC, id DESC);
CREATE INDEX auth_flows_server ON auth_flows (server_id) WHERE finished_at IS NULL;
CREATE INDEX auth_flows_finished ON auth_flows (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX auth_flows_handoff ON auth_flows (handoff_hash) WHERE handoff_hash IS NOT NULL;

CREATE TABLE auth_checks (
  id text PRIMARY KEY,
  connection_id text NOT NULL REFERENCES auth_connections (id),
  result text NOT NULL CHECK (result IN ('in', 'out', 'inconclusive')),
  reason text NOT NULL,
  previous_status text NOT NULL,
  browser_id text,
  replay_id text,
  telemetry_captured boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX auth_checks_newest ON auth_checks (connection_id, created_at DESC, id DESC);
CREATE INDEX auth_checks_age ON auth_checks (created_at);
`
