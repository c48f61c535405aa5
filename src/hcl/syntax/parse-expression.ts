// Expressions by recursive descent: condition ? then : otherwise, operators by precedence, signs, accesses, terms.
import { HclFault } from '#hcl/diagnostics.ts'
import { Numeric, NUMBER_DIGITS_MAX } from '#hcl/values/numeric.ts'
import type { BinaryOperator, Expression } from './nodes.ts'
import { parseAccess } from './parse-access.ts'
import { parseBraces, parseBrackets } from './parse-collection.ts'
import { parseTemplate } from './parse-template.ts'
import type { SyntaxReader } from './syntax-reader.ts'

export function parseExpression(reader: SyntaxReader): Expression {
  return reader.nested(() => {
    const condition = parseChain(reader, 0)
    if (!reader.take('?')) return condition
    const then = parseExpression(reader)
    reader.expect(':', 'and the value for when the condition is false')
    const otherwise = parseExpression(reader)
    const range = reader.rangeFrom(condition.range)
    return { kind: 'conditional', condition, then, otherwise, range }
  })
}

/** The operators of each level, those that bind least first. */
const PRECEDENCE: readonly (readonly BinaryOperator[])[] = [
  ['||'],
  ['&&'],
  ['==', '!='],
  ['<', '<=', '>', '>='],
  ['+', '-'],
  ['*', '/', '%'],
]

function parseChain(reader: SyntaxReader, level: number): Expression {
  const operators = PRECEDENCE[level]
  if (operators === undefined) return parseUnary(reader)
  const first = parseChain(reader, level + 1)
  const rest: { operator: BinaryOperator; operand: Expression }[] = []
  for (;;) {
    const operator = operators.find((one) => reader.take(one))
    if (operator === undefined) break
    rest.push({ operator, operand: parseChain(reader, level + 1) })
  }
  if (rest.length === 0) return first
  return { kind: 'chain', first, rest, range: reader.rangeFrom(first.range) }
}

function parseUnary(reader: SyntaxReader): Expression {
  const { range } = reader.peek()
  const operator = (['-', '!'] as const).find((one) => reader.take(one))
  if (operator === undefined) return parseAccess(reader, parseTerm(reader))
  const operand = reader.nested(() => parseUnary(reader))
  return { kind: 'unary', operator, operand, range: reader.rangeFrom(range) }
}

function parseTerm(reader: SyntaxReader): Expression {
  const { kind } = reader.peek()
  if (kind === 'number') return parseNumber(reader)
  if (kind === 'identifier') return parseWord(reader)
  if (kind === 'template open') return parseTemplate(reader)
  if (reader.is('(')) return parseParentheses(reader)
  if (reader.is('[')) return parseBrackets(reader)
  if (reader.is('{')) return parseBraces(reader)
  throw reader.unexpected('a value')
}

function parseNumber(reader: SyntaxReader): Expression {
  const { text, range } = reader.next()
  const value = Numeric.read(text)
  if (value !== undefined) return { kind: 'literal', value, range }
  throw new HclFault(range, `Expected a number of at most ${NUMBER_DIGITS_MAX} digits`)
}

const WORDS: Readonly<Record<string, null | boolean>> = { null: null, true: true, false: false }

function parseWord(reader: SyntaxReader): Expression {
  const { text, range } = reader.next()
  if (reader.is('(')) return parseCall(reader, { text, range })
  const value = Object.hasOwn(WORDS, text) ? WORDS[text] : undefined
  return value === undefined
    ? { kind: 'reference', name: text, range }
    : { kind: 'literal', value, range }
}

type Name = { readonly text: string; readonly range: Expression['range'] }

function parseCall(reader: SyntaxReader, name: Name): Expression {
  reader.next()
  const args: Expression[] = []
  let expands = false
  reader.enclosed({ close: ')', after: 'to close the call' }, () => {
    while (!reader.is(')')) {
      args.push(parseExpression(reader))
      expands = reader.take('...')
      if (expands || !reader.take(',')) break
    }
  })
  return { kind: 'call', name, args, expands, range: reader.rangeFrom(name.range) }
}

function parseParentheses(reader: SyntaxReader): Expression {
  const { range } = reader.next()
  const inner = reader.enclosed({ close: ')', after: 'to close the parenthesis' }, () =>
    parseExpression(reader),
  )
  return { kind: 'parentheses', inner, range: reader.rangeFrom(range) }
}
