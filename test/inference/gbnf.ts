// A grammar as written, in GBNF, before its readings are separated.
import type { CharSet } from '#inference/engine/grammar/char-set.ts'
import type { Expr, Grammar } from '#inference/engine/grammar/grammar.ts'

/** The name of the rule that the engine begins with. */
const ROOT = 'root'

export const gbnfOf = ({ root, rules }: Grammar): string =>
  [[ROOT, root] as const, ...rules].map(([name, body]) => `${name} ::= ${write(body)}\n`).join('')

function write(expr: Expr): string {
  switch (expr.kind) {
    case 'text':
      return `"${[...expr.text].map(escaped).join('')}"`
    case 'chars':
      return `[${classOf(expr.set)}]`
    case 'seq':
      return expr.parts.length === 0 ? '""' : expr.parts.map(inSequence).join(' ')
    case 'or':
      return expr.parts.map(write).join(' | ')
    case 'times':
      return repeated(expr.part, expr.least, expr.most)
    case 'rule':
      return expr.name
  }
}

const inSequence = (expr: Expr): string => (expr.kind === 'or' ? `(${write(expr)})` : write(expr))

const single = (expr: Expr): string =>
  ['chars', 'rule'].includes(expr.kind) ? write(expr) : `(${write(expr)})`

const repeated = (part: Expr, least: number, most: number): string =>
  `${single(part)}{${least},${most === Number.POSITIVE_INFINITY ? '' : most}}`

const classOf = (set: CharSet): string =>
  set
    .map(([from, to]) =>
      from === to ? escapedCode(from) : `${escapedCode(from)}-${escapedCode(to)}`,
    )
    .join('')

const escaped = (character: string): string =>
  /^[ -~]$/.test(character) && character !== '"' && character !== '\\'
    ? character
    : escapedCode(character.codePointAt(0) ?? 0)

function escapedCode(code: number): string {
  const character = String.fromCodePoint(code)
  if (/^[A-Za-z0-9 ]$/.test(character)) return character
  const hex = code.toString(16)
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
}
