// Running deployments: a turn at a time of each account, and several accounts side by side. All that a turn knows is in the
// state, so a killed process goes on where it was.
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { State } from '#state/connect.ts'

/** The time between two reads of a change that is not complete. */
const LOOK_MS = 200
/** The rest while no deployment runs, and after a fault. */
const REST_MS = 5000
/** The most accounts whose deployments run at the same time. */
const ACCOUNTS_MAX = 8
/** Any of each account, and any accounts: so no deployment is always the last. */
const NEXT = `select id, account from (
    select distinct on (account) id, account from deployments
    where status = 'running' and account <> all ($1) and id <> all ($2)
    order by account, random()
  ) n order by random() limit $3`

type Deps = {
  readonly state: State
  readonly log: Logger
  readonly takeTurn: (deployment: FollowedDeployment) => Promise<'changed' | 'waits'>
}
export type FollowedDeployment = { readonly id: string; readonly account: string }

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
  const wake = () => waiting.abort()
  await using _ = await deps.state.listen('ergon_deployments', wake)
  await using turns = createTurns(deps, wake)
  while (!signal.aborted) {
    waiting = new AbortController()
    const given = [[...turns.inWork.keys()], [...turns.resting], ACCOUNTS_MAX - turns.inWork.size]
    for (const one of (await deps.state.query<FollowedDeployment>(NEXT, given)).rows)
      turns.begin(one)
    await sleep(REST_MS, AbortSignal.any([signal, waiting.signal])).catch(() => undefined)
  }
}

/** The accounts that have a turn, and the deployments that rest between two. */
function createTurns({ takeTurn, log }: Deps, wake: () => void) {
  const inWork = new Map<string, Promise<void>>()
  const resting = new Set<string>()
  const rest = (id: string, ms: number) => {
    resting.add(id)
    setTimeout(() => {
      resting.delete(id)
      wake()
    }, ms).unref()
  }
  const turn = async ({ id, account }: FollowedDeployment) => {
    await takeTurn({ id, account }).then(
      (reached) => reached === 'waits' && rest(id, LOOK_MS),
      (error: unknown) => {
        log.warn('A deployment waits', { id, error: messageOf(error) })
        rest(id, REST_MS)
      },
    )
    inWork.delete(account)
    wake()
  }
  return {
    inWork: inWork as ReadonlyMap<string, Promise<void>>,
    resting: resting as ReadonlySet<string>,
    begin: (one: FollowedDeployment) => void inWork.set(one.account, turn(one)),
    async [Symbol.asyncDispose]() {
      await Promise.all(inWork.values())
    },
  }
}
