// "…${…}…" to a text. One sequence alone is its value; a part that is not known makes the whole text unknown.
import { HclFault } from '#hcl/diagnostics.ts'
import type { TemplateNode, TemplatePart } from '#hcl/syntax/nodes.ts'
import { asText, kindOf, UnknownValue, type HclValue } from '#hcl/values/value.ts'
import type { HclContext } from './context.ts'
import { contextsOf } from './for-each.ts'
import { flagOf, unknownOf } from './typed-values.ts'

export function evaluateTemplate({ parts, range }: TemplateNode, context: HclContext): HclValue {
  const [only] = parts
  if (parts.length === 1 && only?.kind === 'interpolation')
    return context.evaluate(only.value, context)
  const pieces: (string | UnknownValue)[] = []
  for (const part of parts) append(pieces, part, context)
  const unknown = pieces.filter((piece) => piece instanceof UnknownValue)
  return unknown.length > 0
    ? unknownOf(unknown, range, context)
    : context.budget.made(range, pieces.join(''))
}

function append(pieces: (string | UnknownValue)[], part: TemplatePart, context: HclContext): void {
  const all = (parts: readonly TemplatePart[], inner: HclContext) => {
    for (const one of parts) append(pieces, one, inner)
  }
  switch (part.kind) {
    case 'text':
      context.budget.spend(part.range, 1 + Math.ceil(part.text.length / 16))
      return void pieces.push(part.text)
    case 'interpolation':
      return void pieces.push(textOf(context.evaluate(part.value, context), part, context))
    case 'if': {
      const condition = flagOf(part.condition, context)
      if (condition instanceof UnknownValue) return void pieces.push(condition)
      return all(condition ? part.then : (part.otherwise ?? []), context)
    }
    case 'each': {
      const contexts = contextsOf(part, context)
      if (contexts instanceof UnknownValue) return void pieces.push(contexts)
      for (const one of contexts) all(part.parts, one)
    }
  }
}

function textOf(
  value: HclValue,
  { range }: TemplatePart,
  context: HclContext,
): string | UnknownValue {
  if (value instanceof UnknownValue) return value
  const text = asText(value)
  if (text === undefined) {
    const hint = value === null ? undefined : 'as JSON: ${jsonencode(…)}'
    throw new HclFault(range, `Expected a text within this text, found ${kindOf(value)}`, hint)
  }
  context.budget.spend(range, 1 + Math.ceil(text.length / 16))
  return text
}
