// Brings resources of one kind to the state that their accounts want: one resource of an account at a time, and several
// accounts side by side. Resources whose work has a limit of its own do not count. Only a reconciler makes and removes what
// belongs to a resource (instances.ts starts and ends what runs); each step may be repeated after a kill.
import { sleep } from '#base/clock.ts'
import { ErgonError, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { entryOf } from '#contract/errors.ts'
import { isUnpaidReason, TRIED_AGAIN } from '#contract/resources/passing-reasons.ts'
import type { State } from '#state/connect.ts'
import { NotWanted } from './instances.ts'
import type { Resource } from './resource.ts'

export type ReconcilerDeps = {
  readonly state: State
  readonly log: Logger
  readonly kind: string
  /**
   * Makes the resource when it is deployed; again after each change. Resolves with the reached state: a crash loop and
   * a failure are not tried again until the resource is wanted again. The signal also aborts where the account does
   * not want the resource deployed any more, or wants another version. Calls `aside` before work that has a limit of its own: changes of other
   * resources do not wait for it.
   */
  readonly deploy: (
    resource: Resource,
    signal: AbortSignal,
    aside: () => void,
  ) => Promise<void | 'crash_loop' | 'failed'>
  /** Ends what runs for the resource, and keeps its files. */
  readonly suspend: (resource: Resource) => Promise<void>
  /** Removes everything of the resource. */
  readonly remove: (resource: Resource) => Promise<void>
  /** True where nothing of the kind runs on this node: other wishes wait. */
  readonly removesAlone?: boolean
  /** In place of AGAIN_MS for changes: tests are short. */
  readonly againMs?: number
}

/** A resource that is not in the state in which it should be. */
type Unsettled = Resource & {
  readonly wanted: 'deployed' | 'suspended' | 'deleted'
  readonly actual: string
  readonly reason: string | null
  readonly revision: string
  /** The version that is wanted; null of kinds without versions. */
  readonly version: number | null
  /** Tries of this revision in a row. */
  readonly failedTries: number
}

/** Thrown by `deploy` where other work must be done first. That work wants the resource again at its end. */
export class NotYet extends Error {}

/** A missed notification and a failed change wait for this. */
const AGAIN_MS = 15_000
/** A failure that the service cannot mend waits twice as long each time, up to 16 times: a try costs the account energy. */
const DOUBLINGS_MAX = 4
/** About an hour: a pull of a registry that does not exist fails without an end, at 1 J a try. */
const REGISTRY_DOUBLINGS_MAX = 8
/** Accounts whose resources are worked on side by side, one resource of each: none makes the others wait. */
const ACCOUNTS_MAX = 4
const INTERNAL = 500
/** States before anything of a resource was there. */
const NOT_MADE: ReadonlySet<string> = new Set(['pending', 'failed'])
/** The change that has waited longest of each account. */
const UNSETTLED = `select id, account, name, wanted, actual, reason, revision::text, version,
    failed_tries as "failedTries" from (
    select distinct on (account) * from resources
    where kind = $1 and (actual <> wanted or reached_revision < revision)
      and (actual not in ('crash_loop', 'failed') or wanted <> 'deployed' or reached_revision < revision)
      and (not $6 or wanted = 'deleted')
      and account <> all ($2) and id <> all ($3) and id || ' ' || revision <> all ($4)
    order by account, changed_at, id
  ) n order by changed_at, id limit $5`

/** A reason belongs to the wish that was worked on: a wish that came meanwhile keeps its reason. */
const MOVE = `with one as (select id, revision, reason from resources where id = $1 for update)
  select move_resource(id, $2, case when revision = $5 then $3 else reason end, $4) as "isMoved" from one`

/** Works until the signal aborts. Never rejects. */
export async function reconcile(deps: ReconcilerDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted)
    await follow(deps, signal).catch(async (error: unknown) => {
      tellUnfollowed(deps, signal, error)
      await sleep(AGAIN_MS, signal).catch(() => undefined)
    })
}

async function follow(deps: ReconcilerDeps, signal: AbortSignal): Promise<void> {
  const { state, kind } = deps
  let waiting = new AbortController()
  const wake = () => waiting.abort()
  await using _ = await state.listen('ergon_resources', (changed) => {
    if (changed === kind) wake()
  })
  await using work = createWork(deps, { wake, signal })
  while (!signal.aborted) {
    waiting = new AbortController()
    // Work that goes on may take hours: one query that fails does not wait for its end.
    await beginUnsettled(deps, work).catch((error: unknown) => tellUnfollowed(deps, signal, error))
    await sleep(AGAIN_MS, AbortSignal.any([signal, waiting.signal])).catch(() => undefined)
  }
}

async function beginUnsettled(
  { state, kind, removesAlone = false }: ReconcilerDeps,
  work: ReturnType<typeof createWork>,
): Promise<void> {
  await work.endUnwanted()
  const { running, resting } = work
  const accounts = [...running.values()].flatMap((one) => (one.isAside ? [] : [one.account]))
  const most = ACCOUNTS_MAX - accounts.length
  const given = [kind, accounts, [...running.keys()], [...resting], most, removesAlone]
  for (const change of (await state.query<Unsettled>(UNSETTLED, given)).rows) work.begin(change)
}

function tellUnfollowed({ log, kind }: ReconcilerDeps, signal: AbortSignal, error: unknown): void {
  if (!signal.aborted)
    log.warn('Resources could not be followed', { kind, error: messageOf(error) })
}

/** A change in work. It is aside, and does not count, where its work has a limit of its own. */
type ChangeInWork = { readonly account: string; done: Promise<void>; isAside: boolean }

/** The changes in work, by their resources, and those that failed, which rest before they are tried again. */
function createWork(
  deps: ReconcilerDeps,
  { wake, signal }: { readonly wake: () => void; readonly signal: AbortSignal },
) {
  const running = new Map<string, ChangeInWork>()
  const deploying = new Map<string, { readonly version: number | null; readonly end: () => void }>()
  const { againMs = AGAIN_MS } = deps
  const rests = createRests(wake)
  const work = async (change: Unsettled, own: ChangeInWork) => {
    const { id } = change
    const step = () => {
      own.isAside = true
      wake()
    }
    const ending = new AbortController()
    const { version } = change
    const unwanted = () => ending.abort(new NotWanted(id))
    if (change.wanted === 'deployed') deploying.set(id, { version, end: unwanted })
    const end = await settle(
      deps,
      { ...change, aside: step },
      AbortSignal.any([signal, ending.signal]),
    ).catch((error: unknown) => {
      if (!signal.aborted) deps.log.warn('A change waits', { id, error: messageOf(error) })
      return againMs
    })
    deploying.delete(id)
    if (end !== 'settled') rests.begin(change, end)
    running.delete(id)
    wake()
  }
  return {
    running: running as ReadonlyMap<string, Readonly<ChangeInWork>>,
    resting: rests.resting,
    /** A deployment may take long, and costs its account energy. */
    async endUnwanted() {
      if (deploying.size === 0) return
      const { rows } = await deps.state.query<Pick<Unsettled, 'id' | 'wanted' | 'version'>>(
        'select id, wanted, version from resources where id = any ($1)',
        [[...deploying.keys()]],
      )
      for (const { id, wanted, version } of rows) {
        const one = deploying.get(id)
        if (wanted !== 'deployed' || version !== one?.version) one?.end()
      }
    },
    begin(change: Unsettled) {
      const { id, account } = change
      const own: ChangeInWork = { account, done: Promise.resolve(), isAside: false }
      running.set(id, own)
      own.done = work(change, own)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...running.values()].map(({ done }) => done))
    },
  }
}

/** The rests of changes that failed. */
function createRests(wake: () => void) {
  const resting = new Set<string>()
  return {
    resting: resting as ReadonlySet<string>,
    begin({ id, revision }: Unsettled, forMs: number) {
      const change = `${id} ${revision}`
      resting.add(change)
      const end = () => {
        resting.delete(change)
        wake()
      }
      setTimeout(end, forMs).unref()
    },
  }
}

/** The milliseconds until a failed change is made again, after so many earlier tries that failed. */
export function restMs(againMs: number, failedTries: number, error: unknown): number {
  const most = isOfRegistry(error) ? REGISTRY_DOUBLINGS_MAX : DOUBLINGS_MAX
  return againMs * 2 ** Math.min(failedTries, most)
}

/**
 * Makes one change. Resolves with the milliseconds after which a change that waits or fails is made again: more each time
 * where the service cannot mend the cause. Rejects while the state is away.
 */
async function settle(
  { state, log, kind, againMs = AGAIN_MS, ...deps }: ReconcilerDeps,
  {
    wanted,
    actual,
    reason,
    revision,
    failedTries,
    aside,
    ...of
  }: Unsettled & { readonly aside: () => void },
  signal: AbortSignal,
): Promise<'settled' | number> {
  const { id, account, name } = of
  const resource = { id, account, name }
  const move = async (reached: string, why: string | null = null, made: string | null = null) => {
    const moves = await state.query<{ isMoved: boolean }>(MOVE, [id, reached, why, made, revision])
    return moves.rows[0]?.isMoved === true
  }
  const steps = {
    deployed: () => deps.deploy(resource, signal, aside),
    suspended: () => deps.suspend(resource),
    deleted: () => deps.remove(resource),
  }
  try {
    // The row keeps the reason of the last failure: this try may have to wait.
    if (wanted === 'deployed' && NOT_MADE.has(actual)) await move('deploying', reason)
    const isMoved = await move((await steps[wanted]()) ?? wanted, null, revision)
    return isMoved ? 'settled' : againMs
  } catch (error) {
    // A stop in the middle: the next start goes on. A new wish: the next query finds it.
    if (signal.aborted || error instanceof NotWanted || error instanceof NotYet) return againMs
    tellFailure(log, { kind, id, wanted, error }, failedTries > 0)
    const why = whyOf(error)
    const isMade = actual !== 'deploying' && !NOT_MADE.has(actual)
    // Nothing of it has failed.
    await move(
      wanted === 'deployed' && !isMade && isUnpaidReason(why) ? 'deploying' : 'failed',
      why,
    )
    return why === TRIED_AGAIN ? againMs : restMs(againMs, failedTries, error)
  }
}

/** A further failure is no news. The refusals of an account are not the operator's to mend, and have no stack. */
function tellFailure(
  log: Logger,
  { error, ...named }: Readonly<Record<'kind' | 'id' | 'wanted', string>> & { error: unknown },
  isAgain: boolean,
): void {
  const isOfAccount =
    isOfRegistry(error) || (error instanceof ErgonError && entryOf(error)?.fault === 'account')
  const level = isOfAccount ? 'info' : 'error'
  const fields = { ...named, error: isOfAccount ? messageOf(error) : error }
  log[isAgain ? 'debug' : level]('A resource could not be changed', fields)
}

/** The account has chosen the registry. */
const isOfRegistry = (error: unknown): boolean =>
  error instanceof ErgonError && error.code === 'registry_unreachable'

/** For the account: paths and names of the node stay in its log. */
const whyOf = (error: unknown): string =>
  error instanceof ErgonError && error.status < INTERNAL ? error.message : TRIED_AGAIN
