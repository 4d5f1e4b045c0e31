import * as contract from '@berth/contracts/extensions'
import { route, type Route } from '../../http/call.ts'
import type { ExtensionService } from './service.ts'

/** Routes for the extensions of projects; loadExtensions is a control operation of a session. */
export function extensionRoutes(extensions: ExtensionService): Route[] {
  return [
    route(contract.uploadExtension, (call) => extensions.upload(call, call.stream, call)),
    route(contract.listExtensions, (call) => extensions.list(call.db, call, call.query)),
    route(contract.downloadFromChromeStore, (call) =>
      extensions.fromChromeStore(call, call.query, call.signal),
    ),
    route(contract.downloadExtension, (call) => extensions.download(call.db, call, call.params.id)),
    route(contract.getExtension, (call) => extensions.get(call.db, call, call.params.id)),
    route(contract.deleteExtension, (call) => extensions.delete(call, call.params.id, call.commit)),
  ]
}
