import * as contract from '@berth/contracts/replays'
import { list } from '../core/answer.ts'
import { manyTool, type Args } from '../core/tool.ts'
import { replayUri } from '../resources/uris.ts'
import { sessionId } from '../page/fields.ts'
import { flag, text, whole } from './fields.ts'
import { given } from './paging.ts'
import { act } from './plain.ts'

const ofSession = (args: Args) => ({ id: args.session_id as string })

export const manageReplays = manyTool({
  name: 'manage_replays',
  title: 'Recordings',
  toolset: 'replays',
  description:
    'Videos of what a session shows. replay_view_url is a page with a player for people; the video itself is a resource.',
  input: {
    session_id: sessionId,
    replay_id: text('Id of the recording'),
    framerate: whole('Pictures per second', { minimum: 1, maximum: 60 }),
    max_duration_in_seconds: whole('When it stops by itself', { minimum: 1 }),
    record_audio: flag('Also record what the session plays'),
  },
  actions: {
    start: act({
      does: 'start a recording',
      operation: contract.startReplay,
      input: (args) => ({
        params: ofSession(args),
        body: given({
          framerate: args.framerate,
          max_duration_in_seconds: args.max_duration_in_seconds,
          record_audio: args.record_audio,
        }),
      }),
    }),
    stop: act({
      does: 'stop a recording',
      operation: contract.stopReplay,
      requires: ['replay_id'],
      input: (args) => ({ params: { ...ofSession(args), replay_id: args.replay_id } }),
      said: (args) => ({ stopped: args.replay_id, uri: replayUri(args.session_id, args.replay_id) }),
    }),
    list: {
      does: 'list the recordings of a session',
      needs: [contract.listReplays],
      run: async (args: Args, { api }) => {
        const replays = await api.call(contract.listReplays, { params: ofSession(args) })
        const items = replays.map((replay) => ({
          ...replay,
          uri: replayUri(args.session_id, replay.replay_id),
        }))
        return [list({ items, hasMore: false }, 0)]
      },
    },
  },
})
