// Replaces typebox in the bundle, which never uses a schema.
export const Type = new Proxy({}, { get: () => () => ({}) })
