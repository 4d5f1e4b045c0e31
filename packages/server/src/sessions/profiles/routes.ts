import * as contract from '@berth/contracts/profiles'
import { callerOf } from '../browsers/routes.ts'
import { route, type Route } from '../../http/call.ts'
import type { ProfileService } from './service.ts'

export function profileRoutes(profiles: ProfileService): Route[] {
  return [
    route(contract.createProfile, (call) => profiles.create(call.db, callerOf(call), call.body)),
    route(contract.listProfiles, (call) => profiles.list(call.db, callerOf(call), call.query)),
    route(contract.getProfile, (call) => profiles.get(call.db, callerOf(call), call.params.id_or_name)),
    route(contract.updateProfile, (call) =>
      profiles.rename(call.db, callerOf(call), call.params.id_or_name, call.body.name),
    ),
    route(contract.deleteProfile, (call) =>
      profiles.delete(callerOf(call), call.params.id_or_name, call.commit),
    ),
    route(contract.downloadProfile, (call) =>
      profiles.download(callerOf(call), call.params.id_or_name, call.query, call.signal),
    ),
    route(contract.importProfile, (call) =>
      profiles.import(callerOf(call), call.params.id_or_name, call.stream, {
        signal: call.signal,
        commit: call.commit,
      }),
    ),
    route(contract.listProfileVersions, (call) =>
      profiles.listVersions(call.db, callerOf(call), call.params.id_or_name, call.query),
    ),
    route(contract.restoreProfileVersion, (call) =>
      profiles.restore(call.db, callerOf(call), call.params.id_or_name, call.params.version),
    ),
    route(contract.saveSessionProfile, (call) =>
      profiles.save(callerOf(call), call.params.id, call.body, call.commit),
    ),
  ]
}
