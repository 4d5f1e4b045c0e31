import { AppSetup, BuildOrder } from '@berth/contracts/app-link'
import { checksOf } from '../checks/compile.ts'

export const checks = checksOf({ appSetup: AppSetup, buildOrder: BuildOrder })
