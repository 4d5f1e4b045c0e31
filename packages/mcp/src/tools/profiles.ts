import { Type } from 'typebox'
import { createBrowser } from '@berth/contracts/browsers'
import { createLiveViewLink } from '@berth/contracts/live-view'
import * as contract from '@berth/contracts/profiles'
import { facts } from '../core/answer.ts'
import { refusalOf } from '../core/api.ts'
import { manyTool, type Args } from '../core/tool.ts'
import { done, given, listAnswer, pageFields, search } from './paging.ts'

const SETUP_SECONDS = 300
const LINK_SECONDS = 3_600

const name = Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'Name of the profile' }))
const pathOf = (args: Args) => ({ id_or_name: (args.profile_id ?? args.profile_name) as string })

export const manageProfiles = manyTool({
  name: 'manage_profiles',
  title: 'Profiles',
  toolset: 'profiles',
  description:
    'Profiles keep cookies, logins and settings from one session to the next. Start a session with one by profile_name in manage_browsers.',
  input: {
    profile_name: name,
    profile_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'Id of the profile' }),
    ),
    new_name: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'For rename' })),
    session_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'For save: name or id of the session' }),
    ),
    update_existing: Type.Optional(
      Type.Boolean({ default: false, description: 'For setup: also if the profile exists' }),
    ),
    query: search,
    ...pageFields,
  },
  actions: {
    setup: {
      does: 'create a profile and a session in which a person logs in; show them the link',
      needs: [contract.createProfile, createBrowser, createLiveViewLink],
      requires: ['profile_name'],
      run: async (args: Args, { api }) => {
        try {
          await api.call(contract.createProfile, { body: { name: args.profile_name } })
        } catch (error) {
          if (!args.update_existing || refusalOf(error)?.code !== 'already_exists') throw error
        }
        const { session_id, browser_live_view_url: url } = await api.call(createBrowser, {
          body: {
            stealth: true,
            timeout_seconds: SETUP_SECONDS,
            profile: { name: args.profile_name, save_changes: true },
          },
          workSeconds: 90,
        })
        const link = await api.call(createLiveViewLink, {
          params: { id: session_id },
          body: { mode: 'control', expires_in_seconds: LINK_SECONDS },
        })
        return [
          facts({
            session_id,
            profile_name: args.profile_name,
            live_view_url: url ?? link.url,
            next_actions: [
              'Show live_view_url to the person, who logs in there',
              `Then save at once with manage_profiles, action save, session_id "${session_id}", or delete the session, which saves, too`,
            ],
          }),
        ]
      },
    },
    create: {
      does: 'create an empty profile',
      needs: [contract.createProfile],
      run: async (args: Args, { api }) => [
        facts(await api.call(contract.createProfile, { body: given({ name: args.profile_name }) })),
      ],
    },
    list: {
      does: 'list profiles',
      needs: [contract.listProfiles],
      run: (args: Args, context) =>
        listAnswer(context, contract.listProfiles, args, { query: given({ query: args.query }) }),
    },
    get: {
      does: 'show one profile',
      needs: [contract.getProfile],
      requires: ['profile_name|profile_id'],
      run: async (args: Args, { api }) => [
        facts(await api.call(contract.getProfile, { params: pathOf(args) })),
      ],
    },
    rename: {
      does: 'give a profile another name',
      needs: [contract.updateProfile],
      requires: ['profile_name|profile_id', 'new_name'],
      run: async (args: Args, { api }) => [
        facts(
          await api.call(contract.updateProfile, { params: pathOf(args), body: { name: args.new_name } }),
        ),
      ],
    },
    save: {
      does: 'save the profile of a running session now; its browser restarts',
      needs: [contract.saveSessionProfile],
      requires: ['session_id'],
      run: async (args: Args, { api }) => [
        facts(
          await api.call(contract.saveSessionProfile, {
            params: { id: args.session_id },
            body: {},
            workSeconds: 120,
          }),
        ),
      ],
    },
    delete: {
      does: 'delete a profile',
      needs: [contract.deleteProfile],
      requires: ['profile_name|profile_id'],
      run: async (args: Args, { api }) => {
        await api.call(contract.deleteProfile, { params: pathOf(args) })
        return done({ deleted: args.profile_id ?? args.profile_name })
      },
    },
  },
})
