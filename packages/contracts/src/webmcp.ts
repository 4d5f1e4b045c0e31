// Tools that pages offer to agents: https://webmachinelearning.github.io/webmcp
import { Type } from 'typebox'
import { control } from './control.ts'
import { Nullable, OneOf, Strict } from './schema.ts'

const tag = 'Code'

export const MAX_WEBMCP_TOOLS = 1_000
export const MAX_WEBMCP_INPUT_BYTES = 1024 * 1024

const MiB = 1024 * 1024
const url = (description: string) => Type.String({ maxLength: 8192, description })

const WebMcpTool = Type.Object(
  {
    tool_ref: Type.String({
      description:
        'Names the tool in calls of `invoke`, as long as its page stays in the same tab and on the same site',
    }),
    tool: Type.Object(
      {
        name: Type.String({ description: 'Name; unique in its frame' }),
        description: Type.String({ description: 'What it does, in the words of the page' }),
        inputSchema: Type.Optional(Type.Unknown({ description: 'JSON schema of its input' })),
        outputSchema: Type.Optional(Type.Unknown({ description: 'JSON schema of its output' })),
        annotations: Type.Optional(
          Type.Unknown({ description: 'Hints of the page, such as `readOnly` or `consequential`' }),
        ),
      },
      { title: 'WebMcpToolDefinition' },
    ),
    source: Type.Object(
      {
        tab_id: Type.Integer({ description: 'Number of the tab; stays the same while the tab is open' }),
        window_id: Type.Integer({ description: 'Number of its window' }),
        target_id: Type.String({ description: "The tab, as CDP's target id" }),
        page_url: url('Address of the page, cut after 8192 characters'),
        page_title: Type.String({ maxLength: 1024, description: 'Title of the page' }),
        frame: Nullable(
          Type.Object(
            {
              id: Type.String({ description: "The frame, as CDP's frame id" }),
              url: url('Address of the frame, cut after 8192 characters'),
            },
            { description: 'The frame of the page that offers it; null for the page itself' },
          ),
        ),
      },
      { title: 'WebMcpSource' },
    ),
  },
  { title: 'WebMcpTool' },
)

export const listWebMcpTools = control({
  id: 'listWebMcpTools',
  tag,
  summary: 'List the tools that open pages offer (WebMCP)',
  description:
    'Names, descriptions and schemas are texts of the pages: they may try to mislead an agent. A page that does not ' +
    'answer within moments is left out, and so are tools of frames that share the process of their page, which ' +
    'Chromium does not list.',
  method: 'GET',
  at: '/webmcp/tools',
  query: Type.Object({
    exclude_custom: Type.Optional(
      Type.Boolean({
        description: 'Accepted for clients that know tools of callers; there are only those of pages',
      }),
    ),
  }),
  status: 200,
  response: Type.Object(
    { tools: Type.Array(WebMcpTool, { description: `At most ${MAX_WEBMCP_TOOLS}` }) },
    { title: 'WebMcpTools' },
  ),
  errors: ['unavailable'],
})

export const invokeWebMcpTool = control({
  id: 'invokeWebMcpTool',
  tag,
  summary: 'Invoke a tool of a page (WebMCP)',
  description:
    'Waits until the tool has answered. It is canceled when the time limit is reached or the caller disconnects. ' +
    'Returns 404 if the page does not offer the tool any more.',
  method: 'POST',
  at: '/webmcp/invoke',
  maxBodyBytes: MAX_WEBMCP_INPUT_BYTES + MiB,
  body: Strict({
    tool_ref: Type.String({ minLength: 1, maxLength: 8192, description: 'Of the list of tools' }),
    input: Type.Object(
      {},
      {
        additionalProperties: true,
        description: `What its \`inputSchema\` asks for; at most ${MAX_WEBMCP_INPUT_BYTES / MiB} MiB as JSON`,
      },
    ),
    timeout_sec: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 300, default: 60, description: 'Time limit in seconds' }),
    ),
  }),
  status: 200,
  response: Type.Object(
    {
      invocation_id: Type.String({ description: 'Id of the invocation in Chromium' }),
      status: OneOf(['completed', 'canceled', 'error', 'awaiting_submission'] as const, {
        description:
          '`awaiting_submission`: the tool has filled a form of the page, and somebody must submit it there',
      }),
      output: Type.Optional(
        Type.Unknown({ description: 'What the tool answered. It is a text of the page' }),
      ),
      error_text: Type.Optional(Type.String({ description: 'Why there is no output' })),
    },
    { title: 'WebMcpInvocation' },
  ),
  errors: ['payload_too_large', 'unavailable'],
})
