// One statement by the extended protocol, whose rows are read in portions until a limit. The server refuses several
// statements there, and makes no row that is not asked for.
import pg from 'pg'

/** The calls of a query to its connection in pg, whose types leave them out. */
type Portal = {
  execute(portion: { readonly portal: string; readonly rows: number }): void
  flush(): void
  sync(): void
}
export type QueryLimits = { readonly rows: number; readonly bytes: number }
export type QueryColumn = {
  readonly name: string
  readonly dataTypeID: number
  readonly dataTypeModifier: number
}
type Values = readonly (string | null)[]

const PORTION_ROWS = 50
/** Each value as the server prints it. */
const AS_TEXT = { getTypeParser: () => (text: string) => text }

export class LimitedQuery extends pg.Query<Values> {
  /** Within the limits; `rows` of pg is the size of a portion. */
  readonly found: Values[] = []
  readonly #limits: QueryLimits
  #bytes = 0
  #isCut = false

  constructor(sql: string, limits: QueryLimits) {
    const config = { text: sql, rows: PORTION_ROWS, rowMode: 'array', types: AS_TEXT }
    super(config)
    this.#limits = limits
    this.on('row', (row) => this.#add(row))
  }

  /** True when there are rows beyond the limits. */
  get isCut(): boolean {
    return this.#isCut
  }

  /** Called by pg when a portion is read and the statement has more rows, or may have. */
  handlePortalSuspended(connection: Portal): void {
    if (this.#isCut) return connection.sync()
    connection.execute({ portal: '', rows: PORTION_ROWS })
    connection.flush()
  }

  #add(row: Values): void {
    this.#bytes += row.reduce((sum, value) => sum + Buffer.byteLength(value ?? ''), 0)
    this.#isCut ||= this.found.length >= this.#limits.rows || this.#bytes > this.#limits.bytes
    if (!this.#isCut) this.found.push(row)
  }
}
