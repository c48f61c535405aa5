// The instances of one resource that its requests use: as many as the requests of now need, at once when they come, and fewer
// after a calm time. A request goes to the instance with the fewest.
import type { ErgonError } from '#base/errors.ts'
import { HeldInstance, type UseDeps } from './held-instance.ts'
import type { InstancePool } from './instance-pool.ts'
import type { RequestEnding } from './request-ending.ts'
import type { IngressRoute, InstanceScale } from './routes.ts'

/** Requests that follow each other ask the agent once. */
const REST_MS = 1000
/** An instance that did not start is not wanted again before, while there are others. */
const AGAIN_MS = 10_000
/** Fewer instances must have this part of their requests free: a load about the limit starts and ends nothing. */
const FREE_PART = 0.2
const ONE: InstanceScale = { min: 0, max: 1, target: Infinity }

export type InstanceUse = {
  readonly pool: InstancePool
  /** Resolves once its code is loaded; undefined where it is. */
  loading(): Promise<void> | undefined
  /** Tells the agent that a request has not ended in its time. */
  late(): void
  /** It did not answer: the next request goes to another one. */
  down(): void
  end(): void
}

type OwnDeps = UseDeps & {
  /** The time over which the most requests of a moment decide that fewer instances do. */
  readonly calmMs: number
  /** Called when it uses nothing any more. */
  readonly ended: () => void
}

export class Fleet {
  readonly #route: Pick<IngressRoute, 'id' | 'kind'>
  readonly #deps: OwnDeps
  /** Instances that new requests may use, by their numbers from 1. */
  readonly #held = new Map<number, HeldInstance>()
  readonly #failedAtMs = new Map<number, number>()
  #scale = ONE
  /** Requests that wait or run; the most of this half of a calm time, and of the half before. */
  #load = 0
  #most = 0
  #mostBefore = 0
  #calm: NodeJS.Timeout | undefined
  #rest: NodeJS.Timeout | undefined

  constructor(route: Pick<IngressRoute, 'id' | 'kind'>, deps: OwnDeps) {
    this.#route = route
    this.#deps = deps
  }

  /** At once where an instance runs; throws, or rejects with, why no instance can be used. */
  begin(scale: InstanceScale | null, ending: RequestEnding): InstanceUse | Promise<InstanceUse> {
    const refusal = this.#standingRefusal()
    if (refusal !== undefined) throw refusal
    this.#scale = scale ?? ONE
    this.#load++
    this.#most = Math.max(this.#most, this.#load)
    clearTimeout(this.#rest)
    this.#grow()
    const best = this.#best()
    return best === undefined ? this.#opened(ending) : this.#useOf(best, ending)
  }

  /** Undefined where there is an instance, or may be. */
  #standingRefusal(): ErgonError | undefined {
    let refusal: ErgonError | undefined
    for (const one of this.#held.values()) {
      if (one.standingRefusal === undefined) return undefined
      refusal ??= one.standingRefusal
    }
    return refusal
  }

  async #opened(ending: RequestEnding): Promise<InstanceUse> {
    const { signal } = ending
    let isLoad = true
    const leave = () => {
      if (isLoad) this.#leave()
      isLoad = false
    }
    // A caller that leaves during the wait is no load any more.
    signal.addEventListener('abort', leave)
    try {
      return this.#useOf(await this.#taken(signal), ending)
    } catch (error) {
      leave()
      throw error
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  close(): void {
    clearTimeout(this.#calm)
    clearTimeout(this.#rest)
    for (const one of this.#held.values()) one.close()
  }

  #useOf(one: HeldInstance, ending: RequestEnding): InstanceUse {
    one.add(ending)
    return {
      // It is usable.
      pool: one.pool as InstancePool,
      // No getter: in a literal for each request it took 12 µs of 37 (base/fast-objects.fixture.ts).
      loading: () => one.loading,
      late: () => one.late(),
      down: () => one.down(),
      end: () => {
        one.remove(ending)
        this.#leave()
      },
    }
  }

  /** The usable instance with the fewest requests, or the first that becomes so. */
  async #taken(signal: AbortSignal): Promise<HeldInstance> {
    for (;;) {
      signal.throwIfAborted()
      this.#grow()
      const best = this.#best()
      if (best !== undefined) return best
      const opening = [...this.#held.values()].map((one) => one.opened.then(() => one))
      const { refusal } = await Promise.any(opening).catch(({ errors }: AggregateError) =>
        Promise.reject(errors[0]),
      )
      if (refusal !== undefined) throw refusal
    }
  }

  #best(): HeldInstance | undefined {
    let best: HeldInstance | undefined
    for (const one of this.#held.values()) {
      if (one.pool === undefined) continue
      if (best === undefined || isBefore(one, best)) best = one
    }
    return best
  }

  /** Asks for the instances that are lacking. */
  #grow(): void {
    const { min, max, target } = this.#scale
    let wanted = Math.max(1, min, Math.ceil(this.#load / target))
    for (const { isDown } of this.#held.values()) if (isDown) wanted++
    wanted = Math.min(max, wanted)
    const isAlone = this.#held.size === 0
    for (let nth = 1; nth <= max && this.#held.size < wanted; nth++)
      if (!this.#held.has(nth) && !this.#hasJustFailed(nth)) this.#open(nth)
    if (isAlone && this.#held.size === 0) this.#open(1)
    if (this.#held.size > this.#least && this.#calm === undefined) this.#lookLater()
  }

  #hasJustFailed(nth: number): boolean {
    return performance.now() < (this.#failedAtMs.get(nth) ?? -Infinity) + AGAIN_MS
  }

  #open(nth: number): void {
    const one = new HeldInstance(this.#deps, { ...this.#route, nth }, () => {
      if (this.#held.get(nth) !== one) return
      if (one.pool === undefined || one.loading !== undefined)
        this.#failedAtMs.set(nth, performance.now())
      this.#held.delete(nth)
      one.retire()
      this.#endUnused()
    })
    this.#held.set(nth, one)
  }

  get #least(): number {
    return Math.max(1, this.#scale.min)
  }

  #lookLater(): void {
    this.#calm = setTimeout(() => this.#shrink(), this.#deps.calmMs / 2)
  }

  /** Gives up the instances that the requests of a calm time did not need, the last ones first. */
  #shrink(): void {
    this.#calm = undefined
    const most = Math.max(this.#most, this.#mostBefore)
    this.#mostBefore = this.#most
    this.#most = this.#load
    const needed = Math.ceil(most / (this.#scale.target * (1 - FREE_PART)))
    const last = [...this.#held.keys()].toSorted((one, other) => other - one)
    for (const nth of last) {
      if (this.#held.size <= Math.max(this.#least, Math.min(needed, this.#scale.max))) break
      this.#giveUp(nth)
    }
    if (this.#held.size > this.#least) this.#lookLater()
    else this.#restLater()
  }

  #giveUp(nth: number): void {
    const one = this.#held.get(nth)
    this.#held.delete(nth)
    one?.retire()
  }

  #leave(): void {
    this.#load--
    this.#restLater()
  }

  /** Gives up all of them when no request has followed: the agent knows how long they stay. */
  #restLater(): void {
    if (this.#load > 0 || this.#calm !== undefined) return
    clearTimeout(this.#rest)
    this.#rest = setTimeout(() => {
      for (const [nth, one] of this.#held) if (one.standingRefusal === undefined) this.#giveUp(nth)
      this.#endUnused()
    }, REST_MS)
  }

  #endUnused(): void {
    if (this.#load > 0 || this.#held.size > 0) return
    clearTimeout(this.#calm)
    this.#calm = undefined
    this.#deps.ended()
  }
}

const isBefore = (one: HeldInstance, other: HeldInstance): boolean =>
  one.isDown === other.isDown ? one.usersCount < other.usersCount : other.isDown
