// A query and its caller, who gets one answer or one error.

export type WireRow = Record<string, unknown>
/** Rows, and the number of rows that the command found or changed. */
export type WireAnswer = { readonly rows: WireRow[]; readonly rowCount: number }

export class WireQuery {
  readonly text: string
  readonly values: readonly unknown[]
  /** For queries that wait for a connection. */
  readonly sinceMs: number
  #settle: { resolve(answer: WireAnswer): void; reject(error: unknown): void } | undefined

  constructor(
    asked: { text: string; values: readonly unknown[]; sinceMs: number },
    settle: { resolve(answer: WireAnswer): void; reject(error: unknown): void },
  ) {
    this.text = asked.text
    this.values = asked.values
    this.sinceMs = asked.sinceMs
    this.#settle = settle
  }

  get isSettled(): boolean {
    return this.#settle === undefined
  }

  answer(answer: WireAnswer): void {
    this.#end()?.resolve(answer)
  }

  fail(error: unknown): void {
    this.#end()?.reject(error)
  }

  #end() {
    const settle = this.#settle
    this.#settle = undefined
    return settle
  }
}
