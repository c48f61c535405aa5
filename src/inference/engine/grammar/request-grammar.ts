// The grammar that a whole answer is held to: a response format, a forced tool call, or text in which
// tools may be called. All that a request asks for is in one value, so that it can be bounded as a whole.
import { refuse, type BodyFields } from '#inference/engine/fields.ts'
import { CALL_CLOSE, CALL_OPEN } from '#inference/engine/tool-calls.ts'
import { automatonOf, difference, type Automaton, type AutomatonLimits } from './automaton.ts'
import { automatonExpr } from './automaton-grammar.ts'
import { createBudget } from './budget.ts'
import { ANY_CHAR, charsOf } from './char-set.ts'
import {
  chars,
  oneOfTexts,
  or,
  Rules,
  seq,
  text,
  times,
  type Expr,
  type Grammar,
} from './grammar.ts'
import { literal, oneOf, repeat, within } from './regex.ts'
import { schemaExpr } from './schema-grammar.ts'
import type { GrammarWriting } from './schema-parts.ts'

export type CallableTool = {
  readonly name: string
  readonly parameters: BodyFields
  readonly strict: boolean
}

/** Writes JSON without white space: what a model writes is billed by the token. */
const compact = (): GrammarWriting => ({
  rules: new Rules(),
  budget: createBudget(),
  colon: text(':'),
  comma: text(','),
})

/** As most models were trained to write JSON: a space may follow. */
const spaced = (): GrammarWriting => {
  const space = times(text(' '), 0, 1)
  return { ...compact(), colon: seq(text(':'), space), comma: seq(text(','), space) }
}

/** The answer is one JSON value. */
export function formatGrammar(schema: BodyFields, param: string, strict: boolean): Grammar {
  const writing = compact()
  return finished(schemaExpr({ root: schema, param, strict }, writing), writing, param)
}

/** The answer is one call. */
export function forcedCallGrammar(tools: readonly CallableTool[]): Grammar {
  const writing = compact()
  return finished(callExpr(tools, writing), writing, 'tools')
}

/** The answer is text, or calls of tools; from the first character on it is decided which. */
export function textOrCallsGrammar(tools: readonly CallableTool[], callsMax: number): Grammar {
  const writing = compact()
  const line = text('\n')
  const call = writing.rules.add(
    seq(text(`${CALL_OPEN}\n`), callExpr(tools, writing), text(`\n${CALL_CLOSE}`)),
  )
  const more = writing.rules.add(seq(line, call))
  const calls = seq(call, times(more, 0, callsMax - 1))
  return finished(or([freeText(writing), calls]), writing, 'tools')
}

/** The answer is text with calls anywhere in it, as models write it that were trained to. */
export function textAndCallsGrammar(tools: readonly CallableTool[]): Grammar {
  const writing = spaced()
  const { rules } = writing
  const layout = times(chars(charsOf(' \n')), 0, LAYOUT_MAX)
  const free = freeText(writing)
  const call = rules.add(
    seq(text(CALL_OPEN), layout, callExpr(tools, writing), layout, text(CALL_CLOSE)),
  )
  const some = rules.add(seq(call, times(free, 0, 1)))
  const root = seq(times(free, 0, 1), times(some, 0, Number.POSITIVE_INFINITY))
  return finished(root, writing, 'tools')
}

const LAYOUT_MAX = 4

/** One object; the name before the arguments, so that the name can be streamed first. */
function callExpr(tools: readonly CallableTool[], writing: GrammarWriting): Expr {
  const { colon, comma } = writing
  const calls = tools.map(({ name, parameters, strict }) => {
    const source = { root: parameters, param: `tools.${name}.parameters`, strict }
    const given = writing.rules.add(schemaExpr(source, writing))
    return [`"${name}"`, seq(comma, text('"arguments"'), colon, given)] as const
  })
  return seq(text('{"name"'), colon, oneOfTexts(calls, writing.rules), text('}'))
}

/** Any text in which no call begins; a character at least. */
function freeText({ rules, budget }: GrammarWriting): Expr {
  const limits: AutomatonLimits = { budget, param: 'tools' }
  const some = automatonOf(repeat(oneOf(ANY_CHAR), 1), limits)
  const marked: Automaton = automatonOf(within(literal(CALL_OPEN)), limits)
  return automatonExpr(difference(some, marked, limits), rules, chars)
}

function finished(root: Expr, { rules, budget }: GrammarWriting, param: string): Grammar {
  const grammar = rules.finished(root, (steps) => budget.spend(steps, param))
  if (grammar === undefined)
    throw refuse(param, 'by this schema every value leads to another one without end')
  return grammar
}
