// Who the caller is, and which scope the request selected. MCP servers ask before every request.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { Nullable, OneOf } from './schema.ts'
import { scopes } from './scopes.ts'

const projectScope = (description: string) =>
  Type.Object(
    {
      project_id: Nullable(
        Type.String({ description: 'Id of the project. Null means the whole organisation' }),
      ),
    },
    { description },
  )

export const AuthContext = Type.Object(
  {
    authentication: Type.Object(
      {
        method: OneOf(['api_key', 'jwt'] as const, { description: 'How the caller authenticated' }),
        source: OneOf(['api_key', 'oauth', 'dashboard'] as const, {
          description: 'Where the credential comes from',
        }),
        credential_id: Nullable(
          Type.String({ description: 'Id of the API key. Null for a credential of a session' }),
        ),
      },
      { description: 'How the caller was recognised' },
    ),
    principal: Type.Object(
      {
        type: OneOf(['api_key', 'user'] as const, { description: 'What the caller is' }),
        id: Type.String({ description: 'Id of the API key or of the user' }),
      },
      { description: 'The caller' },
    ),
    organization: Type.Object(
      { id: Type.String({ description: 'Id of the organisation' }) },
      { description: 'The organisation of the caller' },
    ),
    authorization: Type.Object(
      {
        credential_scope: projectScope('The most that the credential may use'),
        effective_scope: projectScope('What this request selected, by the key or by a project header'),
        scopes: Type.Optional(
          Nullable(
            Type.Array(OneOf(scopes, { description: 'A scope' }), {
              description: 'Extension: what the key may do. Null means everything',
            }),
          ),
        ),
      },
      { description: 'What the caller may use' },
    ),
  },
  { title: 'AuthContext' },
)
export type AuthContext = Static<typeof AuthContext>

export const getAuthContext = operation({
  id: 'getAuthContext',
  tag: 'API keys',
  summary: 'Get who the caller is, and the project that the request selects',
  description: 'Contains no secret. A deleted or expired key gets 401 at once.',
  method: 'GET',
  path: '/auth/context',
  needsNoScope: true,
  status: 200,
  response: AuthContext,
})
