// One connection to a PostgreSQL server, authenticated by somebody else, with queries one behind the other: each is
// sent at once (Bind, Execute, Sync) and answered in order. Every query is a transaction of its own, whose error is
// its own. An answer counts when ReadyForQuery has come: only then has the server committed.
import type { Socket } from 'node:net'
import type { TimerClock } from '#base/clock.ts'
import { Failure } from '#base/errors.ts'
import { takeBytes } from './direct-bytes.ts'
import { Asking, Describing, type WireExchange, type Prepared } from './exchange.ts'
import { MessageReader } from './message-reader.ts'
import { MessageWriter } from './message-writer.ts'
import { TERMINATE, TYPE } from './messages.ts'
import type { WireQuery } from './wire-query.ts'
import { writeValue } from './values.ts'
import { ProtocolError, readServerError, type ServerError } from './wire-errors.ts'

export type ConnectionOptions = {
  /** After AuthenticationOk and ReadyForQuery; nobody else reads or writes. */
  readonly socket: Socket
  readonly clock: Pick<TimerClock, 'monotonicMs' | 'setTimer'>
  /** The longest time for an answer: of the first query since it is that, and of each since it was asked. */
  readonly answerMsMax: number
  /** An error after which the connection may go on. */
  readonly isHarmless: (error: ServerError) => boolean
  /** There is room for queries, or the connection has ended. */
  readonly changed: () => void
  /** The connection ended while it should not. */
  readonly lost: (error: Error) => void
}

/** Queries on the way: the server works on the first of them. */
const SENT_MAX = 64
/** Bytes that the socket has not taken; further queries wait. */
const UNSENT_BYTES_MAX = 1024 * 1024
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024
const STATEMENTS_MAX = 100
const IDLE = 0x49

export class WireConnection {
  readonly #options: ConnectionOptions
  readonly #reader: MessageReader
  readonly #writer = new MessageWriter()
  readonly #statements = new Map<string, Prepared>()
  readonly #sent: WireExchange[] = []
  /** Queries that wait for the description of their statement. */
  #undescribed = 0
  #state: 'open' | 'retired' | 'ended' = 'open'
  #firstSinceMs = 0
  /** The time since which the timer counts. */
  #timedSinceMs = 0
  #stopTimer: (() => void) | undefined

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#reader = new MessageReader(MESSAGE_BYTES_MAX, (type, bytes, start, end) => {
      this.#receive(type, bytes, start, end)
      return this.#state !== 'ended'
    })
    const { socket } = options
    socket.on('error', (error) => this.#end(error))
    socket.on('close', () => this.#end(new Failure('The server closed the connection')))
    takeBytes(socket, (bytes) => this.#take(bytes))
  }

  get isEnded(): boolean {
    return this.#state === 'ended'
  }

  /** Queries that were asked and not answered. */
  get load(): number {
    return this.#sent.length + this.#undescribed
  }

  get hasRoom(): boolean {
    return (
      this.#state === 'open' &&
      this.load < SENT_MAX &&
      this.#options.socket.writableLength < UNSENT_BYTES_MAX
    )
  }

  ask(query: WireQuery): void {
    const prepared = this.#statements.get(query.text) ?? this.#prepare(query.text)
    if (prepared === undefined)
      return query.fail(new RangeError(`More than ${STATEMENTS_MAX} statements on a connection`))
    if (prepared.shape !== undefined) this.#send(prepared, query)
    else {
      prepared.waiting.push(query)
      this.#undescribed++
    }
    // A query may have waited for its connection.
    if (this.#stopTimer !== undefined && query.sinceMs < this.#timedSinceMs) this.#wait()
  }

  /** No further queries; ends when all that were asked are answered. */
  retire(): void {
    if (this.#state === 'open') this.#state = 'retired'
    if (this.load === 0) this.#bye()
  }

  #prepare(text: string): Prepared | undefined {
    if (this.#statements.size === STATEMENTS_MAX) return undefined
    const prepared: Prepared = { name: `s${this.#statements.size}`, shape: undefined, waiting: [] }
    this.#statements.set(text, prepared)
    const writer = this.#writer
    const parse = writer.begin(TYPE.parse)
    writer.cstring(prepared.name)
    writer.cstring(text)
    writer.int16(0)
    writer.end(parse)
    const describe = writer.begin(TYPE.describe)
    writer.cstring(`S${prepared.name}`)
    writer.end(describe)
    this.#flush(new Describing(prepared))
    return prepared
  }

  #send({ name, shape }: Prepared, query: WireQuery): void {
    if (query.isSettled) return
    const { parameters, columns } = shape ?? { parameters: [], columns: [] }
    const { values } = query
    const writer = this.#writer
    try {
      if (values.length !== parameters.length)
        throw new TypeError(
          `The statement has ${parameters.length} parameters, not ${values.length}`,
        )
      const bind = writer.begin(TYPE.bind)
      writer.cstring('')
      writer.cstring(name)
      // One form for all parameters: binary.
      writer.int16(1)
      writer.int16(1)
      writer.int16(values.length)
      parameters.forEach((codec, nth) => writeValue(writer, codec, values[nth]))
      writer.int16(1)
      writer.int16(1)
      writer.end(bind)
    } catch (error) {
      writer.drop()
      return query.fail(error)
    }
    const execute = writer.begin(TYPE.execute)
    writer.cstring('')
    writer.int32(0)
    writer.end(execute)
    this.#flush(new Asking(query, columns))
  }

  #flush(exchange: WireExchange): void {
    this.#writer.end(this.#writer.begin(TYPE.sync))
    this.#sent.push(exchange)
    if (this.#sent.length === 1) this.#startWaiting()
    this.#options.socket.write(this.#writer.take())
  }

  #take(bytes: Buffer): void {
    const before = this.#sent.length
    try {
      this.#reader.take(bytes)
    } catch (error) {
      this.#end(error instanceof ProtocolError ? error : new ProtocolError(String(error)))
    }
    if (this.#state === 'retired' && this.load === 0) this.#bye()
    if (this.#sent.length !== before) this.#options.changed()
  }

  #receive(type: number, bytes: Buffer, start: number, end: number): void {
    // These come at any time.
    if (type === TYPE.notice || type === TYPE.parameterStatus || type === TYPE.notification) return
    const exchange = this.#sent[0]
    if (type === TYPE.error) return this.#refused(exchange, readServerError(bytes, start, end))
    if (exchange === undefined || (exchange.error !== undefined && type !== TYPE.ready))
      throw new ProtocolError(`The server sent a message that nobody asked for: ${type}`)
    if (type !== TYPE.ready) return exchange.take(type, bytes, start, end)
    if (end - start !== 1 || bytes[start] !== IDLE)
      throw new ProtocolError('The server is in a transaction that a query began')
    this.#finish(exchange)
  }

  #refused(exchange: WireExchange | undefined, error: ServerError): void {
    if (exchange === undefined || error.isFatal) return this.#end(error)
    if (exchange.error !== undefined) throw new ProtocolError('The server sent two errors')
    exchange.error = error
    if (!this.#options.isHarmless(error) && this.#state === 'open') this.#state = 'retired'
  }

  #finish(exchange: WireExchange): void {
    if (exchange instanceof Describing) this.#described(exchange)
    else if (exchange instanceof Asking) {
      const { error, answer, fault, query } = exchange
      if (error === undefined && answer === undefined)
        throw new ProtocolError('The server sent an answer that is cut')
      this.#shift()
      const reason = error ?? fault
      if (answer !== undefined && reason === undefined) query.answer(answer)
      else query.fail(reason)
    }
  }

  #described({ prepared, shape, error, fault }: Describing): void {
    if (error === undefined && shape === undefined)
      throw new ProtocolError('The server sent a description that is cut')
    this.#shift()
    const { waiting } = prepared
    prepared.waiting = []
    this.#undescribed -= waiting.length
    const reason = error ?? fault
    if (reason === undefined) prepared.shape = shape
    else this.#forget(prepared)
    for (const query of waiting)
      if (reason === undefined) this.#send(prepared, query)
      else query.fail(reason)
  }

  /** The name stays taken on this connection: it goes when its queries are answered. */
  #forget(prepared: Prepared): void {
    for (const [text, one] of this.#statements) if (one === prepared) this.#statements.delete(text)
    if (this.#state === 'open') this.#state = 'retired'
  }

  #shift(): void {
    this.#sent.shift()
    this.#firstSinceMs = this.#options.clock.monotonicMs()
  }

  #startWaiting(): void {
    this.#firstSinceMs = this.#options.clock.monotonicMs()
    if (this.#stopTimer === undefined) this.#wait()
  }

  /** One timer for the query that was asked first. */
  #wait(): void {
    const { clock, answerMsMax } = this.#options
    this.#stopTimer?.()
    const waiting = this.#unanswered().filter(({ isSettled }) => !isSettled)
    const sinceMs = Math.min(this.#firstSinceMs, ...waiting.map((query) => query.sinceMs))
    this.#timedSinceMs = sinceMs
    this.#stopTimer = clock.setTimer(sinceMs + answerMsMax - clock.monotonicMs(), () => {
      this.#stopTimer = undefined
      if (this.#sent.length === 0 || this.isEnded) return
      const fromMs = clock.monotonicMs() - answerMsMax
      if (this.#firstSinceMs <= fromMs)
        return this.#end(new Failure(`The server did not answer within ${answerMsMax} ms`))
      // The server still works on those before it, and on it.
      for (const query of this.#unanswered())
        if (query.sinceMs <= fromMs)
          query.fail(new Failure(`The query was not answered within ${answerMsMax} ms`))
      this.#wait()
    })
  }

  /** Also those that wait for the description of their statement. */
  #unanswered(): WireQuery[] {
    return [
      ...this.#sent.flatMap((one) => (one instanceof Asking ? [one.query] : [])),
      ...[...this.#statements.values()].flatMap(({ waiting }) => waiting),
    ]
  }

  #bye(): void {
    if (this.#state === 'ended') return
    this.#options.socket.write(TERMINATE)
    this.#close()
    this.#options.socket.destroySoon()
  }

  #end(error: Error): void {
    if (this.#state === 'ended') return
    this.#close()
    this.#options.socket.destroy()
    const unanswered = this.#unanswered()
    this.#sent.length = 0
    this.#statements.clear()
    this.#undescribed = 0
    for (const query of unanswered) query.fail(error)
    this.#options.lost(error)
    this.#options.changed()
  }

  #close(): void {
    this.#state = 'ended'
    this.#stopTimer?.()
    this.#stopTimer = undefined
  }
}
