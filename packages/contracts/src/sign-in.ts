// Signing in to the dashboard. The key is exchanged for a cookie that no script can read, so the page keeps no key.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { Nullable, Timestamp } from './schema.ts'
import { ScopeList } from './scopes.ts'

const tag = 'API keys'
const path = '/auth/sign_in'

export const SignIn = Type.Object(
  {
    key: Type.Object(
      {
        id: Type.String({ description: 'Id of the key' }),
        name: Type.String({ description: 'Name of the key' }),
        masked_key: Type.String({ description: 'The key with its middle hidden' }),
        scopes: Nullable({ ...ScopeList, description: 'What the key may do. Null means everything' }),
        expires_at: Nullable(Timestamp('When the key stops working. Null means never')),
      },
      { description: 'The key that signed in' },
    ),
    project: Nullable(
      Type.Object(
        {
          id: Type.String({ description: 'Id of the project' }),
          name: Type.String({ description: 'Name of the project' }),
        },
        { description: 'Project of the key. Null for an organisation-wide key' },
      ),
    ),
    expires_at: Timestamp('When the person must sign in again'),
    version: Type.String({ description: 'Version of the server' }),
  },
  { title: 'SignIn' },
)
export type SignIn = Static<typeof SignIn>

export const createSignIn = operation({
  id: 'createSignIn',
  tag,
  summary: 'Extension: Sign in to the dashboard with an API key',
  description:
    'Sets a cookie that a browser sends with later requests of pages of this server, in place of the key. No script can read it. It stops working when the key does, after 7 days, or when the person signs out.',
  method: 'POST',
  path,
  kind: 'empty',
  needsNoScope: true,
  closedToApps: true,
  status: 204,
})

export const getSignIn = operation({
  id: 'getSignIn',
  tag,
  summary: 'Extension: Get who is signed in to the dashboard',
  method: 'GET',
  path,
  needsNoScope: true,
  status: 200,
  response: SignIn,
  errors: ['not_found'],
})

export const deleteSignIn = operation({
  id: 'deleteSignIn',
  tag,
  summary: 'Extension: Sign out of the dashboard',
  description: 'The cookie stops working at once, on every server.',
  method: 'DELETE',
  path,
  kind: 'empty',
  needsNoScope: true,
  status: 204,
})
