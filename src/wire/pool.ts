// Connections to one server for queries that are frequent and short. A query takes an idle connection; while more
// may be opened it waits for one, and beyond that it goes behind others, on the connection with the fewest.
import type { Socket } from 'node:net'
import type { TimerClock } from '#base/clock.ts'
import { Failure } from '#base/errors.ts'
import { WireConnection } from './connection.ts'
import { type WireAnswer, WireQuery } from './wire-query.ts'
import type { ServerError } from './wire-errors.ts'

type WirePoolOptions = {
  /** Connects and authenticates; rejects within a limit of its own. */
  readonly login: () => Promise<Socket>
  /** The most connections. They stay open. */
  readonly connections: number
  readonly clock: Pick<TimerClock, 'monotonicMs' | 'setTimer'>
  /** The longest time that a query waits for a connection, and for the answer of the server. */
  readonly waitMsMax: number
  readonly answerMsMax: number
  /** An error of a query after which the connection may go on. */
  readonly isHarmless: (error: ServerError) => boolean
  /** A connection ended by itself. */
  readonly lost: (error: Error) => void
}

const WAITING_MAX = 10_000
/** After a connection could not be opened, beside others that are open. */
const REOPEN_MS = 1000

export class WirePool implements AsyncDisposable {
  readonly #options: WirePoolOptions
  readonly #connections = new Set<WireConnection>()
  readonly #waiting: WireQuery[] = []
  #opening = 0
  #opensFromMs = -Infinity
  #stopTimer: (() => void) | undefined
  #closed: PromiseWithResolvers<void> | undefined

  constructor(options: WirePoolOptions) {
    this.#options = options
  }

  /**
   * Runs a query in a transaction of its own; resolves when the server has committed. Rejects with the ServerError of
   * the query, or with a TypeError for values that are not of their types. Any other error says that the server is
   * away or does not keep to the protocol: the query may have been committed.
   */
  ask(text: string, values: readonly unknown[]): Promise<WireAnswer> {
    if (this.#closed !== undefined) return Promise.reject(new Failure('The connections are closed'))
    if (this.#waiting.length === WAITING_MAX)
      return Promise.reject(new Failure(`More than ${WAITING_MAX} queries wait for the server`))
    return new Promise((resolve, reject) => {
      const query = new WireQuery(
        { text, values, sinceMs: this.#options.clock.monotonicMs() },
        { resolve, reject },
      )
      this.#waiting.push(query)
      this.#dispatch()
    })
  }

  /** Ends when everything that was asked is answered. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= Promise.withResolvers()
    this.#dispatch()
    await this.#closed.promise
  }

  #dispatch(): void {
    for (const one of this.#connections) if (one.isEnded) this.#connections.delete(one)
    while (this.#waiting.length > 0) {
      const connection = this.#choose()
      if (connection === undefined) break
      const query = this.#waiting.shift()
      if (query !== undefined) connection.ask(query)
    }
    const most = this.#mayOpen() ? this.#options.connections - this.#connections.size : 0
    while (this.#opening < Math.min(most, this.#waiting.length)) void this.#open()
    this.#startWaiting()
    if (this.#closed !== undefined && this.#waiting.length === 0) this.#close(this.#closed)
  }

  #choose(): WireConnection | undefined {
    let best: WireConnection | undefined
    for (const one of this.#connections)
      if (one.hasRoom && (best === undefined || one.load < best.load)) best = one
    const isOpening = this.#opening > 0 || this.#connections.size < this.#options.connections
    return best !== undefined && best.load > 0 && isOpening && this.#mayOpen() ? undefined : best
  }

  #mayOpen(): boolean {
    if (this.#connections.size === 0) return true
    return this.#options.clock.monotonicMs() >= this.#opensFromMs
  }

  async #open(): Promise<void> {
    const { login, clock, lost } = this.#options
    this.#opening++
    try {
      const socket = await login()
      this.#connections.add(
        new WireConnection({
          ...this.#options,
          socket,
          changed: () => this.#dispatch(),
          lost: (error) => {
            if (this.#closed === undefined) lost(error)
          },
        }),
      )
    } catch (error) {
      this.#opensFromMs = clock.monotonicMs() + REOPEN_MS
      // No other connection will answer them.
      if (this.#connections.size === 0)
        for (const query of this.#waiting.splice(0)) query.fail(error)
    }
    this.#opening--
    this.#dispatch()
  }

  /** One timer for the query that waits longest. */
  #startWaiting(): void {
    const { clock, waitMsMax } = this.#options
    const [first] = this.#waiting
    if (first === undefined || this.#stopTimer !== undefined) return
    this.#stopTimer = clock.setTimer(first.sinceMs + waitMsMax - clock.monotonicMs(), () => {
      this.#stopTimer = undefined
      const fromMs = clock.monotonicMs() - waitMsMax
      while ((this.#waiting[0]?.sinceMs ?? Infinity) <= fromMs)
        this.#waiting.shift()?.fail(new Failure(`No connection was free within ${waitMsMax} ms`))
      this.#dispatch()
    })
  }

  #close(closed: PromiseWithResolvers<void>): void {
    this.#stopTimer?.()
    for (const one of this.#connections) {
      one.retire()
      if (one.isEnded) this.#connections.delete(one)
    }
    if (this.#connections.size === 0 && this.#opening === 0) closed.resolve()
  }
}
