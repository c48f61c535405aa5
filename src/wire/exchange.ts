// Exchanges that a connection has begun: the server ends each with ReadyForQuery. The messages of an answer have one
// order; any other order ends the connection.
import { TYPE } from './messages.ts'
import type { WireRow, WireAnswer, WireQuery } from './wire-query.ts'
import { codecOf, lengthAt, type Codec } from './values.ts'
import { ProtocolError, type ServerError } from './wire-errors.ts'

/** The types of a statement's parameters, and its columns. */
export type StatementShape = {
  readonly parameters: readonly Codec[]
  readonly columns: readonly Column[]
}
type Column = { readonly name: string; readonly codec: Codec }

/** A statement on one connection. */
export type Prepared = {
  readonly name: string
  /** Undefined until the server has described it. */
  shape: StatementShape | undefined
  /** Queries that wait for the description. */
  waiting: WireQuery[]
}

export interface WireExchange {
  /** The server's error, after which it sends nothing of this exchange. */
  error: ServerError | undefined
  /** Takes a message of the answer. Throws a ProtocolError for one that is not the next. */
  take(type: number, bytes: Buffer, start: number, end: number): void
}

const unexpected = (type: number) =>
  new ProtocolError(`The server sent a message out of order: ${String.fromCharCode(type)}`)

/** Rows of one answer, and their bytes. */
const ROWS_MAX = 10_000
const ANSWER_BYTES_MAX = 64 * 1024 * 1024
/** Bytes of an answer whose rest is dropped: the queries behind it wait meanwhile. */
const DROPPED_BYTES_MAX = 4 * ANSWER_BYTES_MAX

/** The ends of commands: with a number of rows, and those without one. A rollback is no end of a query of ours. */
const COUNTED = /^(?:SELECT|INSERT 0|UPDATE|DELETE|MERGE|FETCH|COPY) (\d{1,15})\0$/
const UNCOUNTED = /^(?!ROLLBACK\0)[A-Z]+(?: [A-Z]+)*\0$/

/** Parse and Describe. */
export class Describing implements WireExchange {
  readonly prepared: Prepared
  error: ServerError | undefined
  shape: StatementShape | undefined
  #isParsed = false
  /** A TypeError for types that have no codec. */
  fault: TypeError | undefined
  #parameters: readonly Codec[] | undefined

  constructor(prepared: Prepared) {
    this.prepared = prepared
  }

  take(type: number, bytes: Buffer, start: number, end: number): void {
    if (type === TYPE.parseComplete && !this.#isParsed) this.#isParsed = true
    else if (type === TYPE.parameterDescription && this.#isParsed && !this.#parameters)
      this.#parameters = this.#known(() => parametersOf(bytes.subarray(start, end))) ?? []
    else if (this.#parameters === undefined || this.shape !== undefined) throw unexpected(type)
    else
      this.shape = {
        parameters: this.#parameters,
        columns: this.#columns(type, bytes.subarray(start, end)),
      }
  }

  #columns(type: number, body: Buffer): readonly Column[] {
    if (type === TYPE.noData) return []
    if (type !== TYPE.rowDescription) throw unexpected(type)
    return this.#known(() => columnsOf(body)) ?? []
  }

  /** A type without a codec is the caller's fault: the connection stays in order. */
  #known<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      this.fault ??= error
      return undefined
    }
  }
}

function parametersOf(body: Buffer): Codec[] {
  const count = body.readInt16BE(0)
  return Array.from({ length: count }, (_, nth) => codecOf(body.readInt32BE(2 + nth * 4)))
}

function columnsOf(body: Buffer): Column[] {
  const count = body.readInt16BE(0)
  let at = 2
  return Array.from({ length: count }, () => {
    const close = body.indexOf(0, at)
    if (close < 0) throw new ProtocolError('The server sent a description that is cut')
    // Table, number of the attribute, then the type; size, modifier, form.
    const column = {
      name: body.toString('utf8', at, close),
      codec: codecOf(body.readInt32BE(close + 7)),
    }
    at = close + 19
    return column
  })
}

/** Bind and Execute. */
export class Asking implements WireExchange {
  readonly query: WireQuery
  error: ServerError | undefined
  readonly #columns: readonly Column[]
  readonly #rows: WireRow[] = []
  #count = 0
  #bytes = 0
  /** A RangeError for an answer beyond the limits. */
  fault: RangeError | undefined
  #isBound = false
  #rowCount: number | undefined

  constructor(query: WireQuery, columns: readonly Column[]) {
    this.query = query
    this.#columns = columns
  }

  /** Undefined where the answer is not whole. */
  get answer(): WireAnswer | undefined {
    return this.#rowCount === undefined ? undefined : { rows: this.#rows, rowCount: this.#rowCount }
  }

  take(type: number, bytes: Buffer, start: number, end: number): void {
    if (type === TYPE.dataRow && this.#isBound && this.#rowCount === undefined)
      this.#add(bytes, start, end)
    else if (type === TYPE.bindComplete && !this.#isBound) this.#isBound = true
    else if (type === TYPE.commandComplete && this.#isBound && this.#rowCount === undefined)
      this.#rowCount = this.#counted(bytes.toString('latin1', start, end))
    else throw unexpected(type)
  }

  /** The number of rows of a command's tag, such as `INSERT 0 5`: those that came, where the statement has columns. */
  #counted(tag: string): number {
    const digits = COUNTED.exec(tag)?.[1]
    const hasColumns = this.#columns.length > 0
    if (digits === undefined && (hasColumns || !UNCOUNTED.test(tag)))
      throw new ProtocolError(`The server sent the end of no command: ${tag.slice(0, 40)}`)
    const count = Number(digits ?? 0)
    if (hasColumns && count !== this.#count)
      throw new ProtocolError(`The server sent ${this.#count} rows of ${count}`)
    return count
  }

  /** Rows beyond the limits fail their query alone: they are read to their end, and dropped. */
  #add(bytes: Buffer, start: number, end: number): void {
    this.#count++
    this.#bytes += end - start
    if (this.#bytes > DROPPED_BYTES_MAX)
      throw new ProtocolError(`The server sent more than ${DROPPED_BYTES_MAX} bytes of an answer`)
    if (this.#count <= ROWS_MAX && this.#bytes <= ANSWER_BYTES_MAX)
      return void this.#rows.push(this.#row(bytes, start, end))
    this.fault ??= new RangeError(
      `The answer has more than ${ROWS_MAX} rows or ${ANSWER_BYTES_MAX} bytes`,
    )
    this.#rows.length = 0
  }

  #row(bytes: Buffer, start: number, end: number): WireRow {
    const columns = this.#columns
    if (bytes.readInt16BE(start) !== columns.length)
      throw new ProtocolError('The server sent a row of another number of columns')
    const row: WireRow = {}
    let at = start + 2
    for (const { name, codec } of columns) {
      const length = lengthAt(bytes, at)
      at += 4
      if (length < 0) row[name] = null
      else row[name] = codec.read(bytes, at, (at += length))
    }
    if (at !== end) throw new ProtocolError('The server sent a row that is not of its length')
    return row
  }
}
