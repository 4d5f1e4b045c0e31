import * as contract from '@berth/contracts/sign-in'
import { clearSignInCookie, setSignInCookie } from '../../http/sign-in-cookie.ts'
import { route, type Call, type Route } from '../../http/call.ts'
import type { SignInService } from './service.ts'

export function signInRoutes(signIns: SignInService): Route[] {
  return [
    route(contract.createSignIn, async (call) => {
      const token = await signIns.create(call.db, call.principal)
      call.addHeaders({ 'set-cookie': setSignInCookie(token, isSecure(call)) })
    }),
    route(contract.getSignIn, ({ db, principal }) => signIns.get(db, principal)),
    route(contract.deleteSignIn, async (call) => {
      await signIns.delete(call.db, call.principal)
      call.addHeaders({ 'set-cookie': clearSignInCookie(isSecure(call)) })
    }),
  ]
}

const isSecure = ({ origin }: Pick<Call<unknown>, 'origin'>) => ({ isSecure: origin.startsWith('https:') })
