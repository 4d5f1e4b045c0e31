export const links = `
-- Where the hosted page of a login may go in the end.
ALTER TABLE auth_connections ADD COLUMN redirect_urls text[] NOT NULL DEFAULT '{}';

-- Links to a recording that were made before this moment are not valid.
ALTER TABLE replays ADD COLUMN links_valid_from timestamptz;
`
