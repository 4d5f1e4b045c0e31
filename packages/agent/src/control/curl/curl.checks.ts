import { curlBrowser } from '@berth/contracts/curl'
import { checksOf } from '../../checks/compile.ts'

// Lengths count what they count on the server, so that no body passes there and fails here.
export const checks = checksOf(
  {
    curlBrowser: curlBrowser.body,
  },
  { lengths: 'characters' },
)
