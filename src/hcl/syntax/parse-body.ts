// Attributes and blocks. A fault ends the attribute or block that has it; the next line that can begin one goes on.
import { HclFault, DIAGNOSTICS_MAX, type HclDiagnostic } from '#hcl/diagnostics.ts'
import type { SourceText } from '#hcl/source-text.ts'
import type { AttributeNode, BlockNode, BodyNode, NameNode } from './nodes.ts'
import { parseExpression } from './parse-expression.ts'
import { scanTokens } from './scanner.ts'
import { SyntaxReader } from './syntax-reader.ts'

/** UTF-16 units of a file at most. */
export const SOURCE_LENGTH_MAX = 262_144

export type ParsedFile = {
  readonly body: BodyNode
  readonly diagnostics: readonly HclDiagnostic[]
}

/** Never throws: what could not be read is absent from the body, and in the diagnostics. */
export function parseFile(source: SourceText): ParsedFile {
  if (source.text.length > SOURCE_LENGTH_MAX) {
    const range = { start: 0, end: 0 }
    const message = `Expected a file of at most ${SOURCE_LENGTH_MAX} characters, found ${source.text.length}`
    return {
      body: { range, attributes: [], blocks: [] },
      diagnostics: [{ range, message, hint: undefined }],
    }
  }
  const { tokens, diagnostics } = scanTokens(source.text)
  const reader = new SyntaxReader(tokens, parseExpression)
  const parser = new BodyParser(source, reader)
  const body = parser.body(() => reader.peek().kind === 'end of file')
  // The parser stumbles again over text that the scanner refused, on the same line.
  const lines = new Set(diagnostics.map(({ range }) => source.lineNumberOf(range.start)))
  const later = parser.diagnostics.filter(
    ({ range }) => !lines.has(source.lineNumberOf(range.start)),
  )
  const all = [...diagnostics, ...later].toSorted((a, b) => a.range.start - b.range.start)
  return { body, diagnostics: all.slice(0, DIAGNOSTICS_MAX) }
}

type Item = AttributeNode | BlockNode

class BodyParser {
  readonly #source: SourceText
  readonly #reader: SyntaxReader
  readonly diagnostics: HclDiagnostic[] = []

  constructor(source: SourceText, reader: SyntaxReader) {
    this.#source = source
    this.#reader = reader
  }

  body(isEnd: () => boolean): BodyNode {
    const reader = this.#reader
    const start = { start: reader.end, end: reader.end }
    const attributes = new Map<string, AttributeNode>()
    const blocks: BlockNode[] = []
    const isOver = () =>
      isEnd() || reader.peek().kind === 'end of file' || this.diagnostics.length >= DIAGNOSTICS_MAX
    for (reader.skipNewlines(); !isOver();) {
      const item = this.#item()
      if (item !== undefined && 'body' in item) blocks.push(item)
      else if (item !== undefined) this.#add(attributes, item)
      reader.skipNewlines()
    }
    return { range: reader.rangeFrom(start), attributes: [...attributes.values()], blocks }
  }

  #add(attributes: Map<string, AttributeNode>, attribute: AttributeNode): void {
    const earlier = attributes.get(attribute.name.text)
    if (earlier === undefined) attributes.set(attribute.name.text, attribute)
    else {
      const line = this.#source.lineNumberOf(earlier.range.start)
      const message = `Expected ${attribute.name.text} once, found it on line ${line} too`
      this.diagnostics.push({ range: attribute.name.range, message, hint: undefined })
    }
  }

  #item(): Item | undefined {
    const { range } = this.#reader.peek()
    const { mark } = this.#reader
    try {
      const item = this.#parseItem()
      this.#endOfLine('body' in item ? 'block' : 'attribute')
      return item
    } catch (error) {
      if (!(error instanceof HclFault)) throw error
      this.diagnostics.push(error.diagnostic)
      this.#recover(range.start, mark)
      return undefined
    }
  }

  #parseItem(): Item {
    const reader = this.#reader
    const name = reader.expectName('an attribute or a block', 'such as image = "…"')
    if (reader.take('=')) {
      const value = reader.expression()
      return { name, value, range: reader.rangeFrom(name.range) }
    }
    const labels = [...this.#labels()]
    if (!reader.is('{')) {
      const hint = labels.length > 0 ? undefined : `an attribute is ${name.text} = …`
      throw reader.unexpected(`= or { after ${name.text}`, hint)
    }
    return this.#block(name, labels)
  }

  *#labels(): Generator<NameNode> {
    const reader = this.#reader
    for (;;) {
      const token = reader.peek()
      if (token.kind === 'identifier') yield reader.expectName('a name')
      else if (token.kind === 'template open' && token.text === '"') {
        reader.next()
        const text = reader.peek().kind === 'template text' ? reader.next().text : ''
        if (reader.peek().kind !== 'template close')
          throw reader.unexpected('a name without ${…}', 'names of blocks are plain texts')
        reader.next()
        yield { text, range: reader.rangeFrom(token.range) }
      } else return
    }
  }

  #block(type: NameNode, labels: readonly NameNode[]): BlockNode {
    const reader = this.#reader
    const open = reader.next()
    const body = reader.nested(() =>
      reader.peek().kind === 'newline' || reader.is('}')
        ? this.body(() => reader.is('}'))
        : this.#oneLine(),
    )
    if (!reader.take('}')) {
      const line = this.#source.lineNumberOf(open.range.start)
      throw reader.unexpected(`} to close the block ${type.text} of line ${line}`)
    }
    return { type, labels, body, range: reader.rangeFrom(type.range) }
  }

  /** `{ path = "/data" }`: one attribute. */
  #oneLine(): BodyNode {
    const reader = this.#reader
    const item = this.#parseItem()
    if ('body' in item || !reader.is('}'))
      throw new HclFault(
        'body' in item ? item.type.range : reader.peek().range,
        'Expected a single attribute in a block of one line',
        'write each attribute and block on a line of its own',
      )
    return { range: item.range, attributes: [item], blocks: [] }
  }

  #endOfLine(what: string): void {
    const { kind } = this.#reader.peek()
    if (kind === 'newline' || kind === 'end of file') return
    throw this.#reader.unexpected(
      `the end of the line after this ${what}`,
      'each attribute and block has a line of its own',
    )
  }

  /** Goes to the next line that is indented no deeper than the faulty item, beyond what closes it. */
  #recover(itemStart: number, mark: number): void {
    const reader = this.#reader
    const indent = this.#source.placeOf(itemStart).column
    if (reader.end <= itemStart) reader.next()
    for (;;) {
      const token = reader.next()
      if (token.kind === 'end of file') return
      if (token.kind !== 'newline') continue
      const first = reader.peek()
      const { column } = this.#source.placeOf(first.range.start)
      if (first.kind === 'end of file' || column < indent) return
      if (column > indent) continue
      if (first.kind === 'identifier' || (reader.is('}') && reader.openBracesSince(mark) <= 0))
        return
    }
  }
}
