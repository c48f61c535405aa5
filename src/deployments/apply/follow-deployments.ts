// Running deployments, each a turn at a time. All that a turn knows is in the state, so a killed process goes on where it was.
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { State } from '#state/connect.ts'

/** The time between two reads of a change that is not complete. */
const LOOK_MS = 200
/** Without a running deployment, and after a fault. */
const REST_MS = 5000
/** Deployments that have turns side by side. */
const RUNNING_MAX = 20

type Deps = {
  readonly state: State
  readonly log: Logger
  /** Takes a turn of the deployment with this id. */
  readonly takeTurn: (id: string) => Promise<'changed' | 'waits'>
}

/** Works until the signal aborts. Never rejects. */
export async function followDeployments(deps: Deps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted)
    await follow(deps, signal).catch(async (error: unknown) => {
      if (signal.aborted) return
      deps.log.warn('Deployments could not be followed', { error: messageOf(error) })
      await sleep(REST_MS, signal).catch(() => undefined)
    })
}

async function follow(deps: Deps, signal: AbortSignal): Promise<void> {
  let waiting = new AbortController()
  await using _ = await deps.state.listen('ergon_deployments', () => waiting.abort())
  while (!signal.aborted) {
    waiting = new AbortController()
    const { rows } = await deps.state.query<{ id: string }>(
      `select id from deployments where status = 'running' order by id limit ${RUNNING_MAX}`,
    )
    const turns = await Promise.all(rows.map(({ id }) => deps.takeTurn(id)))
    const ms = turns.includes('changed') ? 0 : turns.length > 0 ? LOOK_MS : REST_MS
    await sleep(ms, AbortSignal.any([signal, waiting.signal])).catch(() => undefined)
  }
}
