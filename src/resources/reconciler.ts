// Brings resources of one kind to the state that their accounts want, one after another. Only a reconciler makes and
// removes what belongs to a resource (instances.ts starts and ends what runs); each step may be repeated after a kill.
import { sleep } from '#base/clock.ts'
import { ErgonError, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { State } from '#state/connect.ts'
import { NotWanted } from './instances.ts'
import type { Resource } from './resource.ts'

export type ReconcilerDeps = {
  readonly state: State
  readonly log: Logger
  readonly kind: string
  /** Makes what is there when the resource is deployed; again after each change. */
  readonly deploy: (resource: Resource, signal: AbortSignal) => Promise<void>
  /** Ends what runs for the resource, and keeps its files. */
  readonly suspend: (resource: Resource) => Promise<void>
  /** Removes everything of the resource. */
  readonly remove: (resource: Resource) => Promise<void>
}

type Unsettled = Resource & {
  readonly desired: 'deployed' | 'suspended' | 'deleted'
  readonly revision: string
}

/** Thrown by `deploy` where other work must be done first. That work wants the resource again at its end. */
export class NotYet extends Error {}

/** A missed notification and a failed resource wait for this. */
const AGAIN_MS = 15_000
const PAGE = 20
const INTERNAL = 500
const TRIED_AGAIN = 'it could not be made; it is tried again every 15 seconds'

/** Works until the signal aborts. Never rejects. */
export async function reconcile(deps: ReconcilerDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted)
    await follow(deps, signal).catch(async (error: unknown) => {
      if (signal.aborted) return
      deps.log.warn('Resources could not be followed', { kind: deps.kind, error: messageOf(error) })
      await sleep(AGAIN_MS, signal).catch(() => undefined)
    })
}

async function follow(deps: ReconcilerDeps, signal: AbortSignal): Promise<void> {
  const { state, kind } = deps
  let wake: () => void = () => undefined
  let isPending = false
  await using _ = await state.listen('ergon_resources', (changed) => {
    if (changed !== kind) return
    isPending = true
    wake()
  })
  while (!signal.aborted) {
    isPending = false
    await round(deps, signal)
    const waiting = new AbortController()
    wake = () => waiting.abort()
    if (isPending) continue
    await sleep(AGAIN_MS, AbortSignal.any([signal, waiting.signal])).catch(() => undefined)
  }
}

async function round(deps: ReconcilerDeps, signal: AbortSignal): Promise<void> {
  const { state, kind } = deps
  for (let after = ''; ;) {
    const { rows } = await state.query<Unsettled>(
      `select id, account, name, desired, revision::text from resources
       where kind = $1 and (actual <> desired or reached_revision < revision) and id > $2 order by id limit ${PAGE}`,
      [kind, after],
    )
    for (const { desired, revision, ...resource } of rows) {
      signal.throwIfAborted()
      if (desired === 'deployed') await deploy(deps, { resource, revision }, signal)
      else await end(deps, { resource, revision }, desired)
      after = resource.id
    }
    if (rows.length < PAGE) return
  }
}

async function deploy(
  deps: ReconcilerDeps,
  { resource, revision }: { readonly resource: Resource; readonly revision: string },
  signal: AbortSignal,
) {
  const { state, log, kind } = deps
  const move = (reached: string, why: string | null = null, of: string | null = null) =>
    state.query('select move_resource($1, $2, $3, $4)', [resource.id, reached, why, of])
  await move('deploying')
  try {
    await deps.deploy(resource, signal)
    await move('deployed', null, revision)
  } catch (error) {
    // A stop in the middle: the next start goes on. A new wish: the next round knows it.
    if (signal.aborted || error instanceof NotWanted || error instanceof NotYet) return
    log.error('A resource could not be deployed', { kind, id: resource.id, error })
    // The account reads this: paths and names of the node stay in its log.
    const isOwn = error instanceof ErgonError && error.status < INTERNAL
    await move('failed', isOwn ? error.message : TRIED_AGAIN)
  }
}

async function end(
  { state, log, kind, ...deps }: ReconcilerDeps,
  { resource, revision }: { readonly resource: Resource; readonly revision: string },
  wanted: 'suspended' | 'deleted',
) {
  try {
    await (wanted === 'deleted' ? deps.remove(resource) : deps.suspend(resource))
    await state.query('select move_resource($1, $2, null, $3)', [resource.id, wanted, revision])
  } catch (error) {
    log.error('A resource could not be ended', { kind, id: resource.id, wanted, error })
  }
}
