export const pools = `
CREATE TABLE browser_pools (
  id text PRIMARY KEY,
  project_id text NOT NULL REFERENCES projects (id),
  name text,
  size integer NOT NULL CHECK (size > 0),
  fill_rate_per_minute integer NOT NULL,
  timeout_seconds integer NOT NULL,
  refresh_on_profile_update boolean NOT NULL,
  -- What each of its browsers is asked for, as a request to create one, but for its policies.
  browser jsonb NOT NULL,
  sealed_policy bytea,
  telemetry text[],
  -- What that request refers to, by id.
  profile_id text,
  extension_ids text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz
);
CREATE UNIQUE INDEX browser_pools_name ON browser_pools (project_id, name) WHERE deleted_at IS NULL;
CREATE INDEX browser_pools_newest ON browser_pools (project_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX browser_pools_profile ON browser_pools (profile_id) WHERE deleted_at IS NULL AND profile_id IS NOT NULL;

-- A browser of a pool waits while leased_at is null. Its tenure grows whenever it passes into other hands: what was
-- signed for an earlier one opens nothing any more.
ALTER TABLE browsers
  ADD COLUMN pool_id text REFERENCES browser_pools (id),
  ADD COLUMN pool_name text,
  ADD COLUMN tenure integer NOT NULL DEFAULT 0,
  ADD COLUMN leased_at timestamptz,
  ADD COLUMN released_at timestamptz,
  ADD CHECK (pool_id IS NOT NULL OR (leased_at IS NULL AND tenure = 0));
CREATE INDEX browsers_pool ON browsers (pool_id) WHERE deleted_at IS NULL AND pool_id IS NOT NULL;
CREATE INDEX browsers_pool_made ON browsers (pool_id, created_at) WHERE pool_id IS NOT NULL;
CREATE INDEX browsers_pool_ended ON browsers (pool_id, deleted_at)
  WHERE deleted_at IS NOT NULL AND pool_id IS NOT NULL;

-- Who waits for a browser of a pool, in the order they came. The server of a caller says again and again that
-- it is still there.
CREATE TABLE pool_waiters (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  pool_id text NOT NULL REFERENCES browser_pools (id),
  alive_until timestamptz NOT NULL
);
CREATE INDEX pool_waiters_order ON pool_waiters (pool_id, id);

-- Here and not where browsers are changed, which is in many places: none of them can forget it.
CREATE FUNCTION announce_pool() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('berth_changes', 'pool:' || NEW.pool_id);
  RETURN NULL;
END $$;
CREATE TRIGGER browsers_pool_changed AFTER UPDATE OF deleted_at, is_starting, leased_at ON browsers
  FOR EACH ROW WHEN (NEW.pool_id IS NOT NULL) EXECUTE FUNCTION announce_pool();
`
