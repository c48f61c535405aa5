// The connections to one server: kept while requests follow each other, so that a request mostly finds one open.
import {
  HttpConnection,
  type AnswerTaker,
  type HttpRequest,
  type PieceCounter,
  type WaitLimits,
} from './http-connection.ts'
import { NotAnswered } from './not-answered.ts'
import type { ServerPlace } from './open-socket.ts'

/** Before the server closes an unused connection: a request that is on its way then may be lost. */
const MARGIN_MS = 1000

export type ConnectionRules = {
  /** The server may close an unused connection at any time: after this time a new one is safer. */
  readonly idleMs: number
  /** Undefined: a request has limits of its own. */
  readonly limits?: WaitLimits
  readonly connectionsMax?: number
  /** Time between two looks for what has waited too long. */
  readonly lookMs: number
}

export class KeptConnections {
  readonly #place: ServerPlace
  readonly #work: PieceCounter
  readonly #rules: ConnectionRules
  readonly #all = new Set<HttpConnection>()
  /** The last used one is the last. */
  #idle: HttpConnection[] = []
  #look: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(place: ServerPlace, work: PieceCounter, rules: ConnectionRules) {
    this.#place = place
    this.#work = work
    this.#rules = rules
  }

  /** Throws NotHttp for a request that cannot be sent, and NotAnswered once it is closed, or has no connection left. */
  ask(request: HttpRequest, taker: AnswerTaker): HttpConnection {
    if (this.#isClosed) throw new NotAnswered({ isReset: false })
    const connection = this.#taken() ?? this.#opened()
    try {
      connection.ask(request, taker)
    } catch (error) {
      connection.destroy()
      throw error
    }
    return connection
  }

  /** Ends each connection after its last request. */
  close(): void {
    this.#isClosed = true
    for (const one of this.#idle.splice(0)) one.destroy()
    this.#lookAgain()
  }

  /** Fails the requests under way. */
  destroy(): void {
    this.close()
    for (const one of this.#all) one.end()
    this.#lookAgain()
  }

  #taken(): HttpConnection | undefined {
    const last = this.#idle.pop()
    if (last === undefined || !this.#isOld(last)) return last
    // So are those below it.
    last.destroy()
    for (const one of this.#idle.splice(0)) one.destroy()
    return undefined
  }

  #opened(): HttpConnection {
    const { connectionsMax = Infinity } = this.#rules
    if (this.#all.size >= connectionsMax) throw new NotAnswered({ isReset: false })
    const opened = new HttpConnection(this.#place, this.#work, (one, mayFollow) => {
      if (mayFollow && !this.#isClosed) return this.#keep(one)
      if (mayFollow) one.destroy()
      if (!this.#all.delete(one)) return
      const at = this.#idle.indexOf(one)
      if (at >= 0) this.#idle.splice(at, 1)
    })
    this.#all.add(opened)
    if (this.#rules.limits !== undefined) this.#lookLater()
    return opened
  }

  #keep(one: HttpConnection): void {
    one.sinceMs = performance.now()
    this.#idle.push(one)
    this.#lookLater()
  }

  #lookLater(): void {
    this.#look ??= setTimeout(() => {
      this.#endLate()
      this.#lookAgain()
    }, this.#rules.lookMs)
  }

  #lookAgain(): void {
    clearTimeout(this.#look)
    this.#look = undefined
    const isWatched = this.#rules.limits !== undefined && this.#all.size > 0
    if (isWatched || this.#idle.length > 0) this.#lookLater()
  }

  #endLate(): void {
    const young = this.#idle.findIndex((one) => !this.#isOld(one))
    for (const one of this.#idle.splice(0, young < 0 ? this.#idle.length : young)) one.destroy()
    const { limits } = this.#rules
    if (limits === undefined) return
    const nowMs = performance.now()
    for (const one of this.#all) one.endLate(limits, nowMs)
  }

  #isOld({ sinceMs, keptMs = Infinity }: HttpConnection): boolean {
    return performance.now() - sinceMs >= Math.min(this.#rules.idleMs, keptMs - MARGIN_MS)
  }
}
