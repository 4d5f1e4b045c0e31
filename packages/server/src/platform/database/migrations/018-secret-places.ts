export const secretPlaces = `
-- The projects whose connections may use the provider. Until now all of them could. Those that do keep it, with the
-- default project; a row of an older server is shared with none until somebody says so.
ALTER TABLE credential_providers ADD COLUMN project_ids text[] NOT NULL DEFAULT '{}';
UPDATE credential_providers SET project_ids = ARRAY(
  SELECT id FROM projects WHERE is_default AND deleted_at IS NULL
  UNION
  SELECT project_id FROM auth_connections
  WHERE auth_connections.deleted_at IS NULL AND credential IS NOT NULL AND NOT credential ? 'name'
    AND coalesce(credential->>'provider', credential_providers.name) = credential_providers.name
) WHERE deleted_at IS NULL;

-- Where a credential may be typed, besides its domain. Connections that use one already keep it.
ALTER TABLE credentials ADD COLUMN allowed_domains text[] NOT NULL DEFAULT '{}';
UPDATE credentials SET allowed_domains = ARRAY(
  SELECT DISTINCT place FROM auth_connections,
    LATERAL unnest(allowed_domains || domain || substring(learned_login_url FROM '^https?://([^/?#@]+)')) AS place
  WHERE auth_connections.project_id = credentials.project_id AND auth_connections.deleted_at IS NULL
    AND credential->>'name' = credentials.name AND place IS NOT NULL
) WHERE deleted_at IS NULL;
`
