// One node at a time has a state. A start ends the sessions that an earlier life left open: of a node that
// still runs it would end those that it bills by. So the agent holds a lock in the state from before it
// migrates it to its own end, on a connection that is kept for it. While that connection is being made anew
// another start could get the lock; it looks whether sessions go on before it believes that it may have it.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { sleep } from '#base/clock.ts'
import { type ErgonError, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import { connectState, type Queryable, type State, type StateAddress } from '#state/connect.ts'
import { ADVISORY_LOCKS, SCHEMA_KEY } from '#state/advisory-locks.ts'

export interface StateLock extends AsyncDisposable {
  /** Writes down who has the state, once it has its tables. Throws `state_unavailable`. */
  claim(): Promise<void>
}

type Deps = {
  readonly address: StateAddress
  /** The data folder: a start on the one that had the state last need not look whether it still runs. */
  readonly folder: string
  readonly log: Logger
  readonly step: (text: string) => void
  readonly signal: AbortSignal
  /** Another node has taken the state: what this one says now could not be posted. */
  readonly lost: (error: unknown) => void
  readonly times?: Partial<typeof TIMES>
}

const RETRY_MS = 250
const TIMES = {
  /** A server notices a killed client at once, one whose machine is gone after 5 + 3 × 2 s. */
  waitMs: 15_000,
  /** A session that lives ticks each 0.3 s, and each 2 s after a server was away. */
  watchMs: 5000,
  heartbeatMs: 5000,
}
const NOTICE = `set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2;
  set tcp_keepalives_count = 3; set idle_session_timeout = 0`

/**
 * Waits some seconds for the state to be free. Throws `state_in_use`, which names the owner, or the signal's reason.
 */
export async function lockState(deps: Deps): Promise<StateLock> {
  const lock = new HeldLock({ ...deps, times: { ...TIMES, ...deps.times } })
  try {
    await lock.taken
    return lock
  } catch (error) {
    await lock[Symbol.asyncDispose]()
    throw error
  }
}

class HeldLock implements StateLock {
  /** Rejects when it cannot be had. */
  readonly taken: Promise<void>
  readonly #deps: Timed
  readonly #pool: State
  readonly #me: Me
  readonly #stopping = new AbortController()
  readonly #keeping: Promise<void>
  #connection: Queryable | undefined
  /** The life that the state names: that of the owner before, until we have claimed the state. */
  #life: string | undefined
  #closed: Promise<void> | undefined

  constructor(deps: Timed) {
    this.#deps = deps
    this.#me = { life: randomUUID(), host: hostname(), folder: deps.folder }
    this.#pool = connectState({ address: deps.address, connections: 1, log: deps.log })
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.taken = promise
    this.#keeping = this.#pool
      .session(async (made) => {
        this.#life = await take(made, deps, this.#me)
        resolve()
        await this.#hold(made)
      })
      .catch(reject)
      .then(() => this.#retake())
  }

  async claim(): Promise<void> {
    // On the connection that has the lock: nobody else can be writing this.
    if (this.#connection === undefined)
      throw fault('state_unavailable', 'Could not claim the state: the connection was lost')
    const { life, host, folder } = this.#me
    await this.#connection.query(
      `insert into state_owner (life, host, folder) values ($1, $2, $3) on conflict (is_one)
       do update set life = excluded.life, host = excluded.host, folder = excluded.folder,
         since = excluded.since`,
      [life, host, folder],
    )
    this.#life = life
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    return (this.#closed ??= this.#keeping.then(() => this.#pool[Symbol.asyncDispose]()))
  }

  /** Resolves when we stop; rejects when the connection is lost. */
  async #hold(made: Queryable): Promise<void> {
    const { times, log } = this.#deps
    const { signal } = this.#stopping
    this.#connection = made
    try {
      await made.query(NOTICE)
      while (!signal.aborted) {
        await sleep(times.heartbeatMs, signal).catch(() => undefined)
        await made.query('select 1')
      }
    } catch (error) {
      log.warn('The connection that locks the state was lost', { error: messageOf(error) })
      throw error
    } finally {
      this.#connection = undefined
    }
  }

  async #retake(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await sleep(RETRY_MS, signal).catch(() => undefined)
      if (signal.aborted) return
      // Not back yet; that it was lost has been said.
      const other = await this.#pool.session((made) => this.#takeAgain(made)).catch(() => undefined)
      if (other !== undefined) return this.#deps.lost(inUse('The state was taken', other))
    }
  }

  /** Resolves with the owner that has taken the state meanwhile, or when we stop. */
  async #takeAgain(made: Queryable): Promise<StateOwner | undefined> {
    const isGot = await tryLock(made)
    const owner = await ownerOf(made)
    if (owner?.life !== this.#life) return owner
    // Not got and yet ours: the server has not noticed that our last connection is gone.
    if (isGot) await this.#hold(made)
    return undefined
  }
}

export type StateHolder = {
  readonly host: string
  readonly folder: string
  readonly since: Date
  /** The process of the server that has the lock; null when none has, as while it is being taken again. */
  readonly backend: number | null
}

/** The present or last holder of the state; undefined for a new state. */
export async function stateHolder(state: Queryable): Promise<StateHolder | undefined> {
  const owner = await ownerOf(state)
  if (owner === undefined) return undefined
  const { host, folder, since } = owner
  return { host, folder, since, backend: (await holderOf(state)) ?? null }
}

type StateOwner = { life: string; host: string; folder: string; since: Date }
type Timed = Deps & { readonly times: typeof TIMES }
type Me = Pick<StateOwner, 'life' | 'host' | 'folder'>

/** Resolves with the life that had the state before. */
async function take(made: Queryable, deps: Timed, me: Me): Promise<string | undefined> {
  const lastMs = performance.now() + deps.times.waitMs
  for (let tries = 0; !(await tryLock(made)); tries++) {
    const owner = await ownerOf(made)
    if (performance.now() > lastMs) throw inUse('Could not start', owner, await holderOf(made))
    if (tries === 0) deps.step(`waiting for the state, which is in use by ${whoIs(owner)}`)
    await sleep(RETRY_MS, deps.signal)
  }
  const owner = await ownerOf(made)
  // The folder's own lock lets one node run on a folder.
  if (owner?.host !== me.host || owner.folder !== me.folder) await demandSilence(made, deps, owner)
  return owner?.life
}

/** The earlier holder of the state has no session that goes on. */
async function demandSilence(
  made: Queryable,
  deps: Timed,
  owner: StateOwner | undefined,
): Promise<void> {
  if (!(await hasTable(made, 'state_identity'))) return
  const open = await made.query('select from sessions where closed_at is null limit 1')
  if (open.rowCount === 0) return
  deps.step(
    `looking for ${deps.times.watchMs / 1000} s whether the state is in use by ${whoIs(owner)}`,
  )
  await sleep(deps.times.watchMs, deps.signal)
  const alive = await made.query(
    'select from sessions where closed_at is null and until > clock_timestamp() limit 1',
  )
  if (alive.rowCount > 0) throw inUse('Could not start', owner)
}

async function tryLock(made: Queryable): Promise<boolean> {
  const { rows } = await made.query<{ held: boolean }>(
    `select pg_try_advisory_lock(${ADVISORY_LOCKS.node}, ${SCHEMA_KEY}) as held`,
  )
  return rows[0]?.held === true
}

async function ownerOf(made: Queryable): Promise<StateOwner | undefined> {
  if (!(await hasTable(made, 'state_owner'))) return undefined
  const { rows } = await made.query<StateOwner>('select life, host, folder, since from state_owner')
  return rows[0]
}

async function hasTable(made: Queryable, name: string): Promise<boolean> {
  const { rowCount } = await made.query('select from pg_class where oid = to_regclass($1)', [name])
  return rowCount > 0
}

/** The process of the server that has the lock. */
async function holderOf(made: Queryable): Promise<number | undefined> {
  const { rows } = await made.query<{ pid: number }>(
    `select pid from pg_locks where locktype = 'advisory' and granted and objsubid = 2
       and database = (select oid from pg_database where datname = current_database())
       and classid = ${ADVISORY_LOCKS.node}::oid and objid = (${SCHEMA_KEY})::oid`,
  )
  return rows[0]?.pid
}

const whoIs = (owner: StateOwner | undefined) =>
  owner === undefined
    ? 'another node'
    : `the node on ${owner.host} in ${owner.folder}, since ${owner.since.toISOString()}`

function inUse(what: string, owner: StateOwner | undefined, backend?: number): ErgonError {
  const gone =
    backend === undefined
      ? ''
      : `; if its machine is gone for good: select pg_terminate_backend(${backend})`
  return fault(
    'state_in_use',
    `${what}: the state is in use by ${whoIs(owner)}. A state is for one node: stop that one, or give ` +
      `another DATABASE_URL${gone}`,
  )
}
