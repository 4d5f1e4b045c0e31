export const sessionImports = `
-- What a flow puts into its browser: cookies and storage that a person exported. Sealed, and gone when the flow has ended.
-- Beside the flow, because flows are read often and this is large.
CREATE TABLE auth_imports (
  flow_id text PRIMARY KEY REFERENCES auth_flows (id) ON DELETE CASCADE,
  sealed_session bytea NOT NULL
);
`
