export const telemetryExport = `
CREATE TABLE telemetry_destinations (
  id text PRIMARY KEY,
  project_id text NOT NULL REFERENCES projects (id),
  name text NOT NULL,
  -- The name without case and accents, which makes it unique.
  name_key text NOT NULL,
  endpoint text NOT NULL,
  -- Names and values, sealed; null without headers.
  sealed_headers bytea,
  -- The names alone, to be shown.
  header_names text[] NOT NULL DEFAULT '{}',
  description text,
  -- Counts the changes by its users.
  version integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  -- The server that delivers, and until when no other may.
  server_id text,
  leased_until timestamptz,
  last_success_at timestamptz,
  last_error text,
  last_error_at timestamptz,
  consecutive_failures integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz,
  delivered_events bigint NOT NULL DEFAULT 0,
  rejected_events bigint NOT NULL DEFAULT 0,
  expired_events bigint NOT NULL DEFAULT 0,
  CHECK (deleted_at IS NULL OR sealed_headers IS NULL)
);
CREATE UNIQUE INDEX telemetry_destinations_name ON telemetry_destinations (project_id, name_key)
  WHERE deleted_at IS NULL;
CREATE INDEX telemetry_destinations_newest ON telemetry_destinations (project_id, created_at DESC, id DESC)
  WHERE deleted_at IS NULL;

ALTER TABLE browsers ADD COLUMN telemetry_destination_id text REFERENCES telemetry_destinations (id);
CREATE INDEX browsers_telemetry_destination ON browsers (telemetry_destination_id)
  WHERE deleted_at IS NULL AND telemetry_destination_id IS NOT NULL;

-- What is still to be delivered: the numbers of a session's events after "cursor", up to "until_seq". A row is deleted
-- once all of them are delivered.
CREATE TABLE telemetry_exports (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session_id text NOT NULL REFERENCES browsers (id),
  destination_id text NOT NULL REFERENCES telemetry_destinations (id),
  -- Up to here, events are delivered, refused or expired.
  cursor bigint NOT NULL,
  -- Null while the session exports to this destination.
  until_seq bigint,
  -- Events of it that were deleted undelivered, and that the destination does not count yet.
  expired bigint NOT NULL DEFAULT 0,
  -- When it last had a turn.
  tried_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX telemetry_exports_current ON telemetry_exports (session_id) WHERE until_seq IS NULL;
CREATE INDEX telemetry_exports_session ON telemetry_exports (session_id);
CREATE INDEX telemetry_exports_turns ON telemetry_exports (destination_id, tried_at, id);
`
