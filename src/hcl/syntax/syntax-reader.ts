// The tokens as the parser reads them. Within parentheses and brackets newlines have no meaning; depth has a limit.
import { HclFault } from '#hcl/diagnostics.ts'
import type { TextRange } from '#hcl/source-text.ts'
import type { Expression } from './nodes.ts'
import type { SyntaxToken } from './tokens.ts'

/** Blocks, lists, objects, parentheses, templates and signs within each other. */
export const NESTING_MAX = 60

type Enclosure = {
  readonly close: string
  /** In words, for the message: 'to close the list'. */
  readonly after: string
  readonly skipsNewlines?: boolean
}

export class SyntaxReader {
  readonly #tokens: readonly SyntaxToken[]
  #at = 0
  #depth = 0
  #skipsNewlines = false

  readonly #parse: (reader: SyntaxReader) => Expression

  /** The last token is the end of the file. `parse` reads an expression: its parts have expressions in them again. */
  constructor(tokens: readonly SyntaxToken[], parse: (reader: SyntaxReader) => Expression) {
    this.#tokens = tokens
    this.#parse = parse
  }

  expression(): Expression {
    return this.#parse(this)
  }

  /** The next token that counts, or the one that number of tokens after it. */
  peek(ahead = 0): SyntaxToken {
    let left = ahead
    for (let at = this.#at; ; at++) {
      const token = this.#tokens[at] ?? this.#last
      if (this.#skipsNewlines && token.kind === 'newline') continue
      if (left === 0 || token === this.#last) return token
      left--
    }
  }

  next(): SyntaxToken {
    const token = this.peek()
    while (this.#tokens[this.#at] !== token) this.#at++
    if (token !== this.#last) this.#at++
    return token
  }

  /** The end of the token that was read last. */
  get end(): number {
    return this.#tokens[this.#at - 1]?.range.end ?? 0
  }

  /** The place of the reader among the tokens. */
  get mark(): number {
    return this.#at
  }

  /** Braces that were opened since the mark, and not closed. */
  openBracesSince(mark: number): number {
    let open = 0
    for (const { kind, text } of this.#tokens.slice(mark, this.#at))
      if (kind === 'symbol') open += text === '{' ? 1 : text === '}' ? -1 : 0
    return open
  }

  rangeFrom(start: TextRange): TextRange {
    return { start: start.start, end: this.end }
  }

  is(symbol: string): boolean {
    const token = this.peek()
    return token.kind === 'symbol' && token.text === symbol
  }

  isWord(word: string): boolean {
    const token = this.peek()
    return token.kind === 'identifier' && token.text === word
  }

  /** Reads the symbol if it is next. */
  take(symbol: string): boolean {
    const isNext = this.is(symbol)
    if (isNext) this.next()
    return isNext
  }

  /** Throws HclFault where another token is next. */
  expect(symbol: string, purpose: string, hint?: string): SyntaxToken {
    if (!this.is(symbol)) throw this.unexpected(`${symbol} ${purpose}`, hint)
    return this.next()
  }

  expectName(what: string, hint?: string): { text: string; range: TextRange } {
    const { kind, text, range } = this.peek()
    if (kind !== 'identifier') throw this.unexpected(what, hint)
    this.next()
    return { text, range }
  }

  skipNewlines(): void {
    while (this.peek().kind === 'newline') this.next()
  }

  /** `Expected …, found …` at the next token. */
  unexpected(expected: string, hint?: string): HclFault {
    const token = this.peek()
    return new HclFault(token.range, `Expected ${expected}, found ${nameOf(token)}`, hint)
  }

  /** Runs the work one level deeper. Throws HclFault beyond the limit. */
  nested<T>(work: () => T, skipsNewlines = this.#skipsNewlines): T {
    if (this.#depth >= NESTING_MAX)
      throw new HclFault(this.peek().range, `Expected at most ${NESTING_MAX} levels of nesting`)
    const before = this.#skipsNewlines
    this.#depth++
    this.#skipsNewlines = skipsNewlines
    try {
      return work()
    } finally {
      this.#depth--
      this.#skipsNewlines = before
    }
  }

  /** Reads the work and the symbol that closes it, one level deeper. */
  enclosed<T>({ close, after, skipsNewlines = true }: Enclosure, work: () => T): T {
    return this.nested(() => {
      const read = work()
      this.expect(close, after)
      return read
    }, skipsNewlines)
  }

  get #last(): SyntaxToken {
    const last = this.#tokens.at(-1)
    if (last === undefined) throw new RangeError('There is no token')
    return last
  }
}

const SHOWN_MAX = 40

function nameOf({ kind, text }: SyntaxToken): string {
  if (kind === 'newline') return 'the end of the line'
  if (kind === 'template open') return 'a text'
  if (kind === 'identifier' || kind === 'number' || kind === 'symbol')
    return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text
  return kind === 'end of file' ? 'the end of the file' : 'the end of the text'
}
