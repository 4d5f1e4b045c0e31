import {
  ActOrder,
  LoginSecrets,
  LookOrder,
  PasskeysOrder,
  PhotoOrder,
  StorageOrder,
  VisitOrder,
} from '@berth/contracts/page-snapshot'
import { checksOf } from '../checks/compile.ts'

export const checks = checksOf({
  actOrder: ActOrder,
  loginSecrets: LoginSecrets,
  lookOrder: LookOrder,
  passkeysOrder: PasskeysOrder,
  storageOrder: StorageOrder,
  photoOrder: PhotoOrder,
  visitOrder: VisitOrder,
})
