import { ActOrder, LoginSecrets, LookOrder, VisitOrder } from '@berth/contracts/page-snapshot'
import { checksOf } from '../checks/compile.ts'

export const checks = checksOf({
  actOrder: ActOrder,
  loginSecrets: LoginSecrets,
  lookOrder: LookOrder,
  visitOrder: VisitOrder,
})
