// "…" and <<NAME texts: parts, the directives if and for with their ends, and ~, which strips blanks.
import { didYouMean } from '#base/nearest.ts'
import { HclFault } from '#hcl/diagnostics.ts'
import type { TextRange } from '#hcl/source-text.ts'
import type { FlatPart } from './flat-part.ts'
import type { Expression, TemplatePart } from './nodes.ts'
import { unindent } from './heredoc-indent.ts'
import { parseForIntro } from './parse-collection.ts'
import type { SyntaxToken } from './tokens.ts'
import type { SyntaxReader } from './syntax-reader.ts'

/** A text that is one `${…}` alone is the value itself, of whatever type. */
export function parseTemplate(reader: SyntaxReader): Expression {
  const open = reader.next()
  const flat = reader.nested(() => parseFlat(reader), false)
  reader.next()
  const parts = open.text.startsWith('<<-') ? unindent(flat) : flat
  const range = reader.rangeFrom(open.range)
  return { kind: 'template', parts: reader.nested(() => nest(reader, parts, range)), range }
}

function parseFlat(reader: SyntaxReader): FlatPart[] {
  const parts: FlatPart[] = []
  let strips = false
  while (reader.peek().kind !== 'template close') {
    const token = reader.next()
    if (token.kind === 'template text') {
      const text = strips ? token.text.trimStart() : token.text
      strips = false
      if (text !== '') parts.push({ kind: 'text', text, range: token.range })
      continue
    }
    if (token.text.endsWith('~')) stripEnd(parts)
    const { part, close } = parseSequence(reader, token)
    parts.push(part)
    strips = close.startsWith('~')
  }
  return parts
}

function stripEnd(parts: FlatPart[]): void {
  const last = parts.at(-1)
  if (last?.kind !== 'text') return
  parts.pop()
  const text = last.text.trimEnd()
  if (text !== '') parts.push({ ...last, text })
}

/** The part, and the text of the brace that closes it. */
function parseSequence(reader: SyntaxReader, open: SyntaxToken): { part: FlatPart; close: string } {
  return reader.nested(() => {
    const part =
      open.kind === 'directive open'
        ? parseDirective(reader)
        : ({ kind: 'interpolation', value: reader.expression() } as const)
    if (reader.peek().kind !== 'sequence close') throw reader.unexpected('} after the expression')
    const { text } = reader.next()
    return { part: { ...part, range: reader.rangeFrom(open.range) }, close: text }
  }, true)
}

const DIRECTIVES = ['if', 'else', 'endif', 'for', 'endfor'] as const
type Unranged<Part> = Part extends unknown ? Omit<Part, 'range'> : never

function parseDirective(reader: SyntaxReader): Unranged<FlatPart> {
  const { text, range } = reader.expectName('if, else, endif, for or endfor')
  const word = DIRECTIVES.find((one) => one === text)
  if (word === 'if') return { kind: 'open if', condition: reader.expression() }
  if (word === 'for') return { kind: 'open for', ...parseForIntro(reader) }
  if (word !== undefined) return { kind: word }
  const message = `Expected if, else, endif, for or endfor, found ${text}`
  throw new HclFault(range, message, didYouMean(text, DIRECTIVES))
}

/** Parts between a directive and its end become its own. */
function nest(reader: SyntaxReader, flat: readonly FlatPart[], range: TextRange): TemplatePart[] {
  let at = 0
  const until = (ends: readonly string[], opener: TextRange): TemplatePart[] =>
    reader.nested(() => {
      const parts: TemplatePart[] = []
      for (; at < flat.length; at++) {
        const part = flat[at]
        if (part === undefined || ends.includes(part.kind)) return parts
        parts.push(closed(part))
      }
      if (ends.length > 0)
        throw new HclFault(opener, `Expected %{ ${ends.at(-1)} } for this directive`)
      return parts
    })
  const closed = (part: FlatPart): TemplatePart => {
    if (part.kind === 'text' || part.kind === 'interpolation') return part
    at++
    const whole = () => ({ start: part.range.start, end: flat[at]?.range.end ?? range.end })
    if (part.kind === 'open for') {
      const parts = until(['endfor'], part.range)
      return { ...part, kind: 'each', parts, range: whole() }
    }
    if (part.kind !== 'open if')
      throw new HclFault(part.range, `Expected a directive that ${part.kind} belongs to before it`)
    const then = until(['else', 'endif'], part.range)
    if (flat[at]?.kind !== 'else')
      return { ...part, kind: 'if', then, otherwise: undefined, range: whole() }
    at++
    const otherwise = until(['endif'], part.range)
    return { ...part, kind: 'if', then, otherwise, range: whole() }
  }
  return until([], range)
}
