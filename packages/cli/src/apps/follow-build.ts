// Follows a deployment until it runs or has failed.
import type { Api } from '../api/api.ts'
import type { Context } from '../command/context.ts'
import { Failure } from '../basics/failure.ts'
import { progress } from '../output/progress.ts'
import { isJson, printEvent, printLog, type AppEvent } from './events.ts'

const STEPS: Readonly<Record<string, string>> = {
  queued: 'Waiting for a place to build',
  in_progress: 'Building',
}

export async function followBuild(context: Context, api: Api, id: string): Promise<void> {
  const { terminal } = context
  const shown = await progress(terminal, 'Building')
  const apps: AppEvent[] = []
  let status = ''
  let reason = ''
  try {
    for await (const event of api.events<AppEvent>('followDeployment', { params: { id } })) {
      if (isJson(context)) await printEvent(context, event)
      if (event.event === 'log' && !isJson(context)) {
        // A spinner and a line of a log cannot share a line.
        shown.clear()
        await printLog(context, event)
      } else if (event.event === 'app_version_summary') apps.push(event)
      else if (event.event === 'error') throw new Failure(`The deployment failed: ${event.error?.message}`)
      else if (event.deployment) {
        ;({ status, status_reason: reason = '' } = event.deployment)
        if (STEPS[status] !== undefined) shown.step(STEPS[status]!)
        if (status === 'running' || status === 'failed' || status === 'stopped') break
      }
    }
    // A stream that ended early says nothing about the build.
    if (status !== 'running' && status !== 'failed' && status !== 'stopped')
      ({ status, status_reason: reason = '' } = await api.call<{ status: string; status_reason?: string }>(
        'getDeployment',
        { params: { id } },
      ))
  } catch (error) {
    shown.clear()
    if (context.signal.aborted) terminal.note(`The deployment goes on: berth deploy get ${id}`)
    throw error
  }
  if (status === 'failed' || status === 'stopped') {
    shown.failed('The deployment failed')
    throw new Failure(
      `The deployment ${id} ${status === 'failed' ? 'failed' : 'was stopped'}${reason ? `: ${reason}` : ''}`,
      {
        remedy: `See its logs: berth deploy logs ${id}`,
      },
    )
  }
  if (status !== 'running') {
    shown.done(`The deployment ${id} is ${status}`)
    return
  }
  shown.done(`Deployed ${id}`)
  if (isJson(context)) return
  for (const { app_name: name, version, actions = [] } of apps) {
    const flag = version === 'latest' || version === undefined ? '' : ` --version ${version}`
    for (const action of actions) terminal.note(`Invoke it: berth invoke ${name} ${action.name}${flag}`)
  }
}
