export const storage = `
-- How many bytes the project may store; null: as many as the setting says.
ALTER TABLE projects ADD COLUMN max_storage_bytes bigint CHECK (max_storage_bytes > 0);

-- The size of a recording that is not a video yet, as it was last measured.
ALTER TABLE replays ADD COLUMN journal_bytes bigint NOT NULL DEFAULT 0;

-- The project that stored_bytes counts for; null once the session has ended and nothing of it is left. Until now,
-- stored_bytes included what retention had deleted.
ALTER TABLE telemetry_sessions ADD COLUMN project_id text REFERENCES projects (id);
UPDATE telemetry_sessions
SET stored_bytes = stored.bytes,
  project_id = CASE WHEN browsers.ended_at IS NULL OR stored.bytes > 0 THEN browsers.project_id END
FROM browsers, LATERAL (
  SELECT coalesce(sum(octet_length(payload)), 0) AS bytes FROM telemetry_segments WHERE session_id = browsers.id
) AS stored
WHERE browsers.id = telemetry_sessions.session_id;
CREATE INDEX telemetry_sessions_project ON telemetry_sessions (project_id) WHERE project_id IS NOT NULL;

-- A trigger, because an older server beside this one does not know the column.
CREATE FUNCTION set_telemetry_project() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.project_id := (SELECT project_id FROM browsers WHERE id = NEW.session_id);
  RETURN NEW;
END
$$;
CREATE TRIGGER telemetry_sessions_set_project BEFORE INSERT ON telemetry_sessions
  FOR EACH ROW EXECUTE FUNCTION set_telemetry_project();

CREATE INDEX deployments_stored ON deployments (project_id)
  WHERE source_blob_id IS NOT NULL OR built_blob_id IS NOT NULL;
`
