// When a row says something that webhooks tell. Whichever program writes the row, the event is in the same transaction.
const telling = [
  // A pooled browser is a session for clients while it is leased.
  [
    'browsers',
    'session',
    'UPDATE OF state, leased_at',
    'OLD.state <> NEW.state OR OLD.leased_at IS DISTINCT FROM NEW.leased_at',
  ],
  ['replays', 'replay', 'UPDATE OF state', "NEW.state = 'ready' AND OLD.state <> 'ready'"],
  ['deployments', 'deployment', 'UPDATE OF status', 'OLD.status <> NEW.status'],
  ['deployments', 'deployment', 'INSERT', 'true'],
  ['invocations', 'invocation', 'UPDATE OF status', 'OLD.status <> NEW.status'],
  ['invocations', 'invocation', 'INSERT', 'true'],
  [
    'auth_connections',
    'connection',
    'UPDATE OF status',
    "OLD.status = 'AUTHENTICATED' AND NEW.status = 'NEEDS_AUTH' AND NEW.deleted_at IS NULL",
  ],
  [
    'auth_flows',
    'flow',
    'UPDATE OF state',
    "OLD.state <> NEW.state AND NEW.state NOT IN ('DISCOVERING', 'SUBMITTING', 'SAVING')",
  ],
] as const

const triggers = telling.map(
  ([table, what, when, condition]) => `
CREATE TRIGGER ${table}_webhooks_${when === 'INSERT' ? 'insert' : 'update'} AFTER ${when} ON ${table}
  FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION tell_webhooks_of_${what}();`,
)

/** The first lines of each function: a project without webhooks costs one look at a small table. */
const unlessNobodyListens = (project: string) => `
  IF NOT EXISTS (SELECT FROM webhooks
      WHERE project_id = ${project} AND status = 'enabled' AND deleted_at IS NULL) THEN
    RETURN NULL;
  END IF;`

export const webhooks = `
CREATE TABLE webhooks (
  id text PRIMARY KEY,
  project_id text NOT NULL REFERENCES projects (id),
  url text NOT NULL,
  description text,
  -- Empty: all, also those that a later version adds.
  event_types text[] NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'enabled' CHECK (status IN ('enabled', 'disabled')),
  -- Who disabled it; null while it is enabled.
  disabled_by text CHECK (disabled_by IN ('user', 'failures', 'receiver')),
  sealed_secret bytea,
  -- After a rotation, requests are signed with both for a while.
  sealed_old_secret bytea,
  old_secret_until timestamptz,
  -- Counts the changes by its users.
  version integer NOT NULL DEFAULT 0,
  consecutive_failures integer NOT NULL DEFAULT 0,
  -- The first failure since the last success.
  failing_since timestamptz,
  last_success_at timestamptz,
  last_error text,
  last_error_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  CHECK ((status = 'disabled') = (disabled_by IS NOT NULL)),
  CHECK ((deleted_at IS NULL) = (sealed_secret IS NOT NULL)),
  CHECK ((sealed_old_secret IS NULL) = (old_secret_until IS NULL))
);
CREATE INDEX webhooks_newest ON webhooks (project_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX webhooks_listening ON webhooks (project_id) WHERE deleted_at IS NULL AND status = 'enabled';

-- One event for one webhook: what is to be sent, and how that went. There is no reference to the webhook: each event would
-- lock its row, which all creates of the project would share. Housekeeping deletes those of deleted webhooks.
CREATE TABLE webhook_deliveries (
  -- Within a subject, events are numbered in the order of their transactions, because each is written under the lock of
  -- the subject's row.
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  webhook_id text NOT NULL,
  -- The same for all webhooks of the project, and for each attempt.
  event_id text NOT NULL,
  event_type text NOT NULL,
  -- What it is about: a session, an invocation. Events of one subject are delivered one after another.
  subject text NOT NULL,
  data jsonb NOT NULL,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- It is tried for a day from then.
  tried_from timestamptz NOT NULL DEFAULT now(),
  next_attempt_at timestamptz NOT NULL DEFAULT now(),
  attempts integer NOT NULL DEFAULT 0,
  -- Those since tried_from that failed.
  failures integer NOT NULL DEFAULT 0,
  finished_at timestamptz,
  -- Who sends it just now, and until when that is believed.
  lease_id text,
  lease_server text,
  lease_until timestamptz,
  CHECK ((state = 'pending') = (finished_at IS NULL))
);
CREATE UNIQUE INDEX webhook_deliveries_event ON webhook_deliveries (webhook_id, event_id);
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (webhook_id, seq DESC);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_attempt_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_order ON webhook_deliveries (webhook_id, subject, seq) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_leased ON webhook_deliveries (webhook_id) WHERE lease_until IS NOT NULL;
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE webhook_attempts (
  delivery_seq bigint NOT NULL REFERENCES webhook_deliveries (seq) ON DELETE CASCADE,
  number integer NOT NULL,
  started_at timestamptz NOT NULL,
  duration_ms integer NOT NULL,
  -- Null when no answer came.
  status integer,
  -- The start of what the receiver said.
  answer text,
  -- Null after a success.
  error text,
  PRIMARY KEY (delivery_seq, number)
);

-- Limits of projects that were told to be near, until they are far again.
CREATE TABLE webhook_quotas_near (
  project_id text NOT NULL REFERENCES projects (id),
  quota text NOT NULL CHECK (quota IN ('storage', 'sessions')),
  told_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, quota)
);
ALTER TABLE api_keys ADD COLUMN expiry_told_at timestamptz;
-- When a server last looked for keys that expire and limits that are near. One row.
CREATE TABLE webhook_watch (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  looked_at timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO webhook_watch DEFAULT VALUES;

-- For those who follow GET /changes; not what deliveries write. Servers also hear it, to begin deliveries.
CREATE TRIGGER webhooks_row_changed AFTER INSERT OR UPDATE OF version, status, deleted_at ON webhooks
  FOR EACH ROW EXECUTE FUNCTION announce_row('webhook');

-- As the API writes it.
CREATE FUNCTION webhook_time(at timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- One row for each webhook that wants the event; usually that is one. No NOTIFY: it would make all creates that commit
-- wait for each other, so servers look for what is due.
CREATE FUNCTION add_webhook_event(project text, type text, about text, told jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  event text := 'evt_' || replace(gen_random_uuid()::text, '-', '');
BEGIN
  INSERT INTO webhook_deliveries (webhook_id, event_id, event_type, subject, data)
  SELECT id, event, type, about, told FROM webhooks
  WHERE project_id = project AND status = 'enabled' AND deleted_at IS NULL
    AND (event_types = '{}' OR type = ANY (event_types));
END $$;

CREATE FUNCTION tell_webhooks_of_session() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was_shown boolean := OLD.pool_id IS NULL OR OLD.leased_at IS NOT NULL;
  is_shown boolean := NEW.pool_id IS NULL OR NEW.leased_at IS NOT NULL;
  -- A browser that goes back to its pool has forgotten its name and tags.
  shown browsers := CASE WHEN was_shown AND NOT is_shown THEN OLD ELSE NEW END;
  event text;
  reason text;
  told jsonb;
BEGIN${unlessNobodyListens('NEW.project_id')}
  IF NEW.state = 'ending' AND OLD.state IN ('ready', 'standby') AND was_shown THEN
    event := 'session.ended';
    reason := NEW.end_reason;
  ELSIF NEW.state NOT IN ('ready', 'standby') THEN
    RETURN NULL;
  ELSIF was_shown AND NOT is_shown THEN
    event := 'session.ended';
    reason := 'released';
  ELSIF NOT is_shown THEN
    RETURN NULL;
  ELSIF NOT was_shown OR OLD.state = 'starting' THEN
    event := 'session.started';
  ELSIF NEW.state = 'standby' AND OLD.state = 'ready' THEN
    event := 'session.standby';
  ELSIF NEW.state = 'ready' AND OLD.state = 'standby' THEN
    event := 'session.woken';
  ELSE
    RETURN NULL;
  END IF;
  told := jsonb_build_object('session_id', shown.id, 'project_id', shown.project_id, 'name', shown.name,
    'tags', shown.tags, 'pool_id', shown.pool_id, 'created_at', webhook_time(shown.created_at));
  IF reason IS NOT NULL THEN
    told := told || jsonb_build_object('reason', reason);
  END IF;
  PERFORM add_webhook_event(NEW.project_id, event, NEW.id, told);
  -- Whoever leases has locked the pool, so of two leases at once the second sees the first.
  IF NOT was_shown AND is_shown AND NOT EXISTS (SELECT FROM browsers AS idle
      WHERE idle.pool_id = NEW.pool_id AND idle.deleted_at IS NULL AND idle.state <> 'starting'
        AND idle.leased_at IS NULL) THEN
    PERFORM add_webhook_event(NEW.project_id, 'pool.empty', pool.id, jsonb_build_object('pool_id', pool.id,
      'project_id', pool.project_id, 'name', pool.name, 'size', pool.size, 'session_id', NEW.id))
    FROM browser_pools AS pool WHERE pool.id = NEW.pool_id;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION tell_webhooks_of_replay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN${unlessNobodyListens('NEW.project_id')}
  PERFORM add_webhook_event(NEW.project_id, 'replay.ready', NEW.id, jsonb_build_object('replay_id', NEW.id,
    'session_id', NEW.browser_id, 'project_id', NEW.project_id, 'duration_ms', NEW.duration_ms,
    'size_bytes', NEW.size_bytes, 'end_reason', NEW.end_reason, 'started_at', webhook_time(NEW.started_at),
    'finished_at', webhook_time(NEW.finished_at)));
  RETURN NULL;
END $$;

CREATE FUNCTION tell_webhooks_of_deployment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN${unlessNobodyListens('NEW.project_id')}
  PERFORM add_webhook_event(NEW.project_id, 'deployment.' || NEW.status, NEW.id, jsonb_build_object(
    'deployment_id', NEW.id, 'project_id', NEW.project_id, 'version', NEW.version, 'status', NEW.status,
    'status_reason', NEW.status_reason, 'created_at', webhook_time(NEW.created_at)));
  RETURN NULL;
END $$;

CREATE FUNCTION tell_webhooks_of_invocation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN${unlessNobodyListens('NEW.project_id')}
  PERFORM add_webhook_event(NEW.project_id, 'invocation.' || NEW.status, NEW.id, jsonb_build_object(
    'invocation_id', NEW.id, 'project_id', NEW.project_id, 'deployment_id', NEW.deployment_id,
    'app_name', NEW.app_name, 'version', NEW.version, 'action_name', NEW.action_name, 'status', NEW.status,
    'status_reason', NEW.status_reason, 'created_at', webhook_time(NEW.created_at),
    'finished_at', webhook_time(NEW.finished_at)));
  RETURN NULL;
END $$;

CREATE FUNCTION tell_webhooks_of_connection() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN${unlessNobodyListens('NEW.project_id')}
  PERFORM add_webhook_event(NEW.project_id, 'login.needed', NEW.id, jsonb_build_object('connection_id', NEW.id,
    'project_id', NEW.project_id, 'domain', NEW.domain, 'profile_id', NEW.profile_id, 'flow_id', NULL,
    'reason', 'signed_out'));
  RETURN NULL;
END $$;

CREATE FUNCTION tell_webhooks_of_flow() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  connection auth_connections;
  told jsonb;
BEGIN
  SELECT * INTO connection FROM auth_connections WHERE id = NEW.connection_id;${unlessNobodyListens('connection.project_id')}
  told := jsonb_build_object('connection_id', connection.id, 'project_id', connection.project_id,
    'domain', connection.domain, 'profile_id', connection.profile_id, 'flow_id', NEW.id);
  IF NEW.state = 'SUCCESS' THEN
    PERFORM add_webhook_event(connection.project_id, 'login.succeeded', connection.id, told);
  ELSIF NEW.state IN ('FAILED', 'EXPIRED', 'CANCELED') THEN
    PERFORM add_webhook_event(connection.project_id, 'login.failed', connection.id, told || jsonb_build_object(
      'status', NEW.state, 'error_code', NEW.error_code, 'error_message', NEW.error_message));
  ELSE
    PERFORM add_webhook_event(connection.project_id, 'login.needed', connection.id, told || jsonb_build_object(
      'reason', CASE NEW.state WHEN 'AWAITING_INPUT' THEN 'input' ELSE 'external_action' END));
  END IF;
  RETURN NULL;
END $$;
${triggers.join('')}
`
