// Instances of one kind of resource: the servers or programs that run for resources on this node. The first use starts
// an instance, which ends after a while without a user. Instances of other keys of a resource, such as versions, run
// beside it. Nothing else starts or ends an instance. So a resource has no instance while its account does not want it
// deployed, or during work that needs its files at rest.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { SleepCause } from '#contract/resources/intervals.ts'
import type { Queryable } from '#state/connect.ts'
import { beginInterval, endInterval, type Waker } from './intervals.ts'
import type { Resource } from './resource.ts'

export interface Instance {
  /** Resolves when the instance takes requests. Rejects when the instance ends first, or with the signal's reason. */
  ready(signal: AbortSignal): Promise<void>
  /** Resolves when all processes have ended; a failed call may be repeated. The cause may shorten the grace period. */
  end(cause: SleepCause): Promise<void>
}

export type UsedInstance<I> = {
  readonly instance: I
  /** Why it is being ended, or was; undefined while it is not. */
  endedBy(): SleepCause | undefined
  release(): void
}

export interface Instances<R extends Resource, I extends Instance> {
  /**
   * Resolves with the running instance, which runs until the release and a while longer. Waits for the end of an
   * earlier one. Rejects with NotWanted, or with why it did not start or the earlier one did not end. The interval in
   * which the resource is awake is recorded, with the waker. `begun` is called with an instance that is not ready yet.
   */
  use(
    resource: R,
    waker: Waker,
    signal: AbortSignal,
    begun?: (instance: I) => void,
  ): Promise<UsedInstance<I>>
  /** Ends the instance now; the next use starts another. Uses that wait for this one reject with `why`. */
  stop(key: string, cause: SleepCause, why?: Error): Promise<void>
  /** Ends all instances of a resource now. */
  stopAll(id: string, cause: SleepCause): Promise<void>
  /** Ends the instances of a resource that have other keys, each after its last use. */
  retireOthers(id: string, keys: ReadonlySet<string>): void
  /** Does work on a resource that nothing runs for: each use waits for the end of the work. */
  without<T>(key: string, work: () => Promise<T>): Promise<T>
  running(): readonly (Pick<Resource, 'id' | 'account'> & {
    readonly key: string
    readonly instance: Promise<I>
    /** It has been ready once, and is not being ended. */
    readonly isServing: boolean
  })[]
  /** No instance starts any more. Instances that run go on: the node ends its cells in its own order. */
  close(): void
}

export type InstancesDeps<R extends Resource, I extends Instance> = {
  readonly state: Queryable
  /** For the wish of the account at a start; by default the state. */
  readonly wishes?: Queryable
  readonly log: Logger
  /** The time without a user after which an instance ends. */
  readonly idleMs: number | ((resource: R) => number)
  /** The longest time until one is ready: 60 s. */
  readonly readyMs?: number
  /**
   * Reads the needs of a start while the wish of the account is read, and starts nothing. Where the account wants it,
   * the result starts an instance, and resolves before that is ready.
   */
  readonly prepare: (resource: R) => Promise<() => Promise<I>>
  /** Called when an instance of a resource serves from now on, or no more. */
  readonly changed?: (id: string) => void
  /** Instances of one key follow each other; those of other keys run beside. By default a resource has one key: its id. */
  readonly keyOf?: (resource: R) => string
}

/** The account does not want the resource deployed any more. */
export class NotWanted extends Error {}

type InstanceEntry<I> = {
  readonly id: string
  readonly account: string
  readonly instance: Promise<I>
  users: number
  /** The time without a user after which it ends. */
  idleMs: number
  /** The number of the interval that begins with it; undefined where it was not recorded. */
  interval: Promise<string | undefined>
  isReady?: true
  /** The instance is ending, or its end has failed: it may be half gone, so it is not used again. */
  ending?: SleepCause
  /** For those that wait until it is ready. */
  why?: Error | undefined
  timer?: NodeJS.Timeout | undefined
}

type InstanceEnd = { readonly cause: SleepCause; readonly why?: Error | undefined }

const READY_MAX_MS = 60_000

export const createInstances = <R extends Resource, I extends Instance>(
  deps: InstancesDeps<R, I>,
): Instances<R, I> => new OwnInstances(deps)

class OwnInstances<R extends Resource, I extends Instance> implements Instances<R, I> {
  readonly #deps: InstancesDeps<R, I>
  readonly #running = new Map<string, InstanceEntry<I>>()
  /** The ends, and the work after them, that uses wait for. */
  readonly #fences = new Map<string, Promise<void>>()
  #isClosed = false

  constructor(deps: InstancesDeps<R, I>) {
    this.#deps = deps
  }

  async use(resource: R, waker: Waker, signal: AbortSignal, begun?: (instance: I) => void) {
    const key = this.#deps.keyOf?.(resource) ?? resource.id
    await this.#whole(key)
    signal.throwIfAborted()
    if (this.#isClosed) throw new NotWanted(`The node stops: ${key}`)
    const one = this.#running.get(key) ?? this.#started(resource, waker)
    this.#running.set(key, one)
    one.users++
    one.idleMs = this.#idleMs(resource)
    clearTimeout(one.timer)
    const release = this.#releaseOf(key, one)
    try {
      const instance = await one.instance
      if (one.isReady !== true) {
        begun?.(instance)
        // A line about it leaves at the end of this turn: 2 ms of other work were before it.
        await nextTurn()
      }
      await instance.ready(
        AbortSignal.any([signal, AbortSignal.timeout(this.#deps.readyMs ?? READY_MAX_MS)]),
      )
      this.#serves(one)
      return { instance, endedBy: () => one.ending, release }
    } catch (error) {
      release()
      if (one.users === 0 && this.#running.get(key) === one) await this.stop(key, 'failed')
      throw one.why ?? error
    }
  }

  stop(key: string, cause: SleepCause, why?: Error): Promise<void> {
    return this.#fenced(key, { cause, why }, async () => undefined)
  }

  async stopAll(id: string, cause: SleepCause): Promise<void> {
    await Promise.all(this.#of(id).map(([key]) => this.stop(key, cause)))
  }

  retireOthers(id: string, keys: ReadonlySet<string>): void {
    for (const [key, one] of this.#of(id)) {
      if (keys.has(key)) continue
      one.idleMs = 0
      if (one.users === 0) this.#rest(key, one)
    }
  }

  #of(id: string) {
    return [...this.#running].filter(([, one]) => one.id === id)
  }

  without<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.#fenced(key, { cause: 'change' }, work)
  }

  running() {
    return [...this.#running].map(([key, { id, account, instance, isReady, ending }]) => ({
      key,
      id,
      account,
      instance,
      isServing: isReady === true && ending === undefined,
    }))
  }

  close(): void {
    this.#isClosed = true
    for (const { timer } of this.#running.values()) clearTimeout(timer)
  }

  #serves(one: InstanceEntry<I>): void {
    if (one.isReady === true) return
    one.isReady = true
    this.#deps.changed?.(one.id)
  }

  #idleMs(resource: R): number {
    const { idleMs } = this.#deps
    return typeof idleMs === 'number' ? idleMs : idleMs(resource)
  }

  #started(resource: R, waker: Waker): InstanceEntry<I> {
    const { id, account } = resource
    const instance = startWanted(this.#deps, resource)
    const one: InstanceEntry<I> = {
      id,
      account,
      instance,
      users: 0,
      idleMs: this.#idleMs(resource),
      interval: this.#interval(instance, id, waker),
    }
    return one
  }

  /** Waits for one turn of the loop, so that the line that says where the instance listens leaves before this query. */
  async #interval(instance: Promise<I>, id: string, waker: Waker): Promise<string | undefined> {
    try {
      await instance
    } catch {
      return undefined
    }
    await nextTurn()
    return await this.#recorded(() => beginInterval(this.#deps.state, id, waker))
  }

  /** A record that fails does not stop what runs. */
  #recorded<T>(record: () => Promise<T>): Promise<T | undefined> {
    return record().catch((error: unknown) => {
      this.#deps.log.warn('An interval is not recorded', { error: messageOf(error) })
      return undefined
    })
  }

  #fenced<T>(key: string, end: InstanceEnd, work: () => Promise<T>): Promise<T> {
    const before = this.#fences.get(key)
    const done = (async () => {
      await before
      await this.#end(key, end)
      return await work()
    })()
    const settled = () => {
      if (this.#fences.get(key) === fence) this.#fences.delete(key)
    }
    const fence: Promise<void> = done.then(settled, settled)
    this.#fences.set(key, fence)
    return done
  }

  /** Resolves when ends and work are over, with a further try of an end that failed. */
  async #whole(key: string): Promise<void> {
    for (;;) {
      while (this.#fences.has(key)) await this.#fences.get(key)
      const ending = this.#running.get(key)?.ending
      if (ending === undefined) return
      await this.stop(key, ending)
    }
  }

  async #end(key: string, { cause, why }: InstanceEnd): Promise<void> {
    const one = this.#running.get(key)
    if (one === undefined) return
    one.ending ??= cause
    one.why ??= why
    this.#deps.changed?.(one.id)
    clearTimeout(one.timer)
    const instance = await one.instance.catch(() => undefined)
    await instance?.end(cause)
    this.#running.delete(key)
    const interval = await one.interval
    if (interval !== undefined)
      await this.#recorded(() => endInterval(this.#deps.state, interval, one.ending ?? cause))
  }

  #releaseOf(key: string, one: InstanceEntry<I>): () => void {
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      one.users--
      // A timer would end the next instance, which may be in use.
      if (one.users > 0 || one.ending !== undefined || this.#isClosed) return
      this.#rest(key, one)
    }
  }

  /** Ends an instance that nobody uses, after its idle time. */
  #rest(key: string, one: InstanceEntry<I>): void {
    clearTimeout(one.timer)
    const end = () =>
      void this.stop(key, 'idle').catch((error: unknown) =>
        this.#deps.log.error('An instance could not be ended', { key, error }),
      )
    one.timer = setTimeout(end, one.idleMs).unref()
  }
}

/**
 * The wish is read only once `end` finds the start: an account that changes its mind before is refused here, and later
 * the reconciler ends what has started. A resource that is not wanted is NotWanted, whatever else fails.
 */
async function startWanted<R extends Resource, I extends Instance>(
  { state, wishes = state, prepare }: InstancesDeps<R, I>,
  resource: R,
): Promise<I> {
  // The caller registers the start before this goes on.
  await Promise.resolve()
  const wish = wishes.query("select from resources where id = $1 and wanted = 'deployed'", [
    resource.id,
  ])
  const preparing = prepare(resource)
  preparing.catch(() => undefined)
  if ((await wish).rowCount === 0) throw new NotWanted(`Not wanted any more: ${resource.id}`)
  const start = await preparing
  return await start()
}
