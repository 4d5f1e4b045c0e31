export const newestOfAll = `
-- A key of the organisation lists the newest sessions of all projects, also those that ended. Without it, PostgreSQL sorted
-- every session that ever was.
CREATE INDEX browsers_created ON browsers (created_at DESC, id DESC);
`
