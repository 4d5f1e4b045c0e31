import { getAuthContext } from '@berth/contracts/auth-context'
import { facts } from '../core/answer.ts'
import { tool } from '../core/tool.ts'

export const getConnectionContext = tool({
  name: 'get_connection_context',
  title: 'Who am I',
  toolset: 'projects',
  description: 'Says which key this connection uses, which project it works in, and what it may do.',
  input: {},
  needs: [],
  hints: { readOnly: true },
  run: async (_args, { api }) => {
    const context = await api.call(getAuthContext)
    const { credential_scope: credential, effective_scope: effective } = context.authorization
    const projectId = effective.project_id
    return [
      facts({
        ...context,
        connection_scope: {
          kind: projectId === null ? 'organization' : 'project',
          organization_id: context.organization.id,
          project_id: projectId,
          source: credential.project_id === null && projectId !== null ? 'request' : 'credential',
        },
      }),
    ]
  },
})
