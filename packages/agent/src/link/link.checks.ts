import { BrowserStart, LeaseRenewal, Shape, TelemetryOrder } from '@berth/contracts/link'
import { checksOf } from '../checks/compile.ts'

export const checks = checksOf({
  browserStart: BrowserStart,
  leaseRenewal: LeaseRenewal,
  shape: Shape,
  telemetryOrder: TelemetryOrder,
})
