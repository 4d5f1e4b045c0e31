import { MAX_WEBMCP_INPUT_BYTES } from '@berth/contracts/webmcp'
import type { Chromium } from '../../chromium/chromium.ts'
import { checked } from '../../checks/check.ts'
import { ControlError, type ControlOperation } from '../calls/operation.ts'
import { invoke } from './invoke.ts'
import { ToolList } from './tool-list.ts'
import { checks } from './webmcp.checks.ts'

const DEFAULT_SECONDS = 60

export function webMcpOperations(chromium: Pick<Chromium, 'openCdp'>): readonly ControlOperation[] {
  const list = new ToolList(chromium)
  return [
    {
      method: 'GET',
      path: '/webmcp/tools',
      handle: async () => ({ tools: await list.read() }),
    },
    {
      method: 'POST',
      path: '/webmcp/invoke',
      handle: ({ body, signal }) => {
        const given = checked(checks.invokeWebMcpTool, body)
        const { tool_ref: ref, input, timeout_sec: seconds = DEFAULT_SECONDS } = given
        if (Buffer.byteLength(JSON.stringify(input)) > MAX_WEBMCP_INPUT_BYTES) {
          const message = `Cannot invoke the tool: "input" has more than ${MAX_WEBMCP_INPUT_BYTES} bytes as JSON`
          throw new ControlError('payload_too_large', message)
        }
        return invoke(chromium, { ref, input, timeoutMs: seconds * 1000, signal })
      },
    },
  ]
}
