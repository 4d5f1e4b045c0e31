export { importRequestOf } from '@berth/contracts/session-file'
