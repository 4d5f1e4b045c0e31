export const auditExports = `
-- When the record was stored: the start of its transaction. Records are exported in this order, because a long request is
-- recorded long after its timestamp. Records from before have the time of this migration, and no export begins earlier.
ALTER TABLE audit_logs ADD COLUMN recorded_at timestamptz NOT NULL DEFAULT now();
CREATE INDEX audit_logs_recorded ON audit_logs (recorded_at, id);

CREATE TABLE audit_export_destinations (
  id text PRIMARY KEY,
  bucket text NOT NULL,
  prefix text NOT NULL,
  region text NOT NULL,
  kms_key_id text,
  endpoint text,
  external_id text NOT NULL,
  role_arn text,
  access_key_id text,
  sealed_secret bytea,
  status text NOT NULL DEFAULT 'paused' CHECK (status IN ('active', 'paused')),
  -- Counts changes of the configuration and status; that of the last configuration whose test passed.
  revision integer NOT NULL DEFAULT 1,
  tested_revision integer,
  -- When it was or is active, without what has been exported.
  pending tstzmultirange NOT NULL DEFAULT '{}',
  -- The window that is being exported: its end, the number of its next object, and the last record of the one before.
  window_end timestamptz,
  chunk integer NOT NULL DEFAULT 0,
  after_at timestamptz,
  after_id bigint,
  due_at timestamptz,
  -- Only who has the lease exports.
  lease_id text,
  lease_server text,
  lease_until timestamptz,
  consecutive_failures integer NOT NULL DEFAULT 0,
  last_success_at timestamptz,
  last_error text,
  last_error_at timestamptz,
  last_exported_cursor text,
  next_attempt_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  -- A role, or an access key with its secret; a deleted destination keeps no secret.
  CHECK ((role_arn IS NULL) <> (access_key_id IS NULL)),
  CHECK (deleted_at IS NOT NULL OR (access_key_id IS NULL) = (sealed_secret IS NULL))
);
CREATE INDEX audit_export_destinations_newest ON audit_export_destinations (created_at DESC, id DESC)
  WHERE deleted_at IS NULL;
`
