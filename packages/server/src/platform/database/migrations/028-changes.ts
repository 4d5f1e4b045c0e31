const announcing = [
  // Each save of a profile, but not each use of it.
  ['profiles', 'profile', 'UPDATE OF name, current_version, last_version, deleted_at'],
  ['extensions', 'extension', 'UPDATE OF name, deleted_at'],
  ['proxies', 'proxy', 'UPDATE'],
  // Not what the delivery of events writes.
  ['telemetry_destinations', 'telemetry_destination', 'UPDATE OF version, deleted_at'],
  // Its other changes are announced by the server.
  ['auth_connections', 'auth_connection', 'UPDATE OF status, last_auth_check_at, deleted_at'],
  ['credentials', 'credential', 'UPDATE'],
  ['credential_providers', 'credential_provider', 'UPDATE'],
  // Each event of an app updates the row, too.
  ['deployments', 'deployment', 'UPDATE OF status'],
  ['projects', 'project', 'UPDATE'],
  ['organization', 'organization', 'UPDATE'],
] as const

const triggers = announcing.map(
  ([table, kind, update]) => `
CREATE TRIGGER ${table}_row_changed AFTER INSERT OR ${update} ON ${table}
  FOR EACH ROW EXECUTE FUNCTION announce_row('${kind}');`,
)

export const changes = `
-- Tells those who follow GET /changes, whichever program wrote the row. Not on sessions and recordings: a NOTIFY would
-- make every create wait a little for the others. A server of an earlier version does not know the word, and drops what
-- it remembers of keys.
CREATE FUNCTION announce_row() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  project text := '';
BEGIN
  IF TG_TABLE_NAME = 'projects' THEN
    project := NEW.id;
  ELSIF TG_TABLE_NAME NOT IN ('credential_providers', 'organization') THEN
    project := coalesce(NEW.project_id, '');
  END IF;
  PERFORM pg_notify('berth_changes', 'row:' || TG_ARGV[0] || ':' || NEW.id || ':' || project);
  RETURN NULL;
END $$;
${triggers.join('')}
-- The key of an app is nobody else's to see.
CREATE TRIGGER api_keys_row_changed AFTER INSERT OR UPDATE OF name, expires_at, deleted_at ON api_keys
  FOR EACH ROW WHEN (NOT NEW.is_of_deployment) EXECUTE FUNCTION announce_row('api_key');
-- The server announces how it goes on.
CREATE TRIGGER invocations_row_changed AFTER INSERT ON invocations
  FOR EACH ROW EXECUTE FUNCTION announce_row('invocation');

-- The last failures, of few sessions. A create does not write it, nor does a usual end.
CREATE INDEX browsers_failed ON browsers (project_id, deleted_at DESC, id DESC)
  WHERE end_reason IN ('crashed', 'out_of_memory', 'start_failed', 'lost');
`
