// Our syntax tree in the form of the oracle: hcl2json keeps blocks, labels and literals, and writes every other expression
// as the text of its range between ${ and }. So names, nesting, literals, texts and ranges are all compared.
import { parseFile } from '#hcl/syntax/parse-body.ts'
import type { BodyNode, Expression, TemplatePart } from '#hcl/syntax/nodes.ts'
import { SourceText } from '#hcl/source-text.ts'

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
type JsonObject = { [name: string]: Json }

export function oracleForm(text: string): JsonObject | { refused: string } {
  const source = new SourceText('a.hcl', text)
  const { body, diagnostics } = parseFile(source)
  const [first] = diagnostics
  return first === undefined ? bodyForm(text, body) : { refused: first.message }
}

function bodyForm(text: string, body: BodyNode): JsonObject {
  const form: JsonObject = {}
  for (const { name, value } of body.attributes) form[name.text] = valueForm(text, value)
  for (const { type, labels, body: inner } of body.blocks) {
    let at = form
    let key = type.text
    for (const label of labels) {
      at = (at[key] ??= {}) as JsonObject
      key = label.text
    }
    const list = (at[key] ??= []) as Json[]
    list.push(bodyForm(text, inner))
  }
  return form
}

const sourceOf = (text: string, { range }: Expression): string => text.slice(range.start, range.end)

function valueForm(text: string, node: Expression): Json {
  if (node.kind === 'literal')
    return typeof node.value === 'boolean' || node.value === null
      ? node.value
      : Number(node.value.toString())
  if (node.kind === 'list') return node.items.map((item) => valueForm(text, item))
  if (node.kind === 'object')
    return Object.fromEntries(
      node.entries.map(({ key, value }) => [keyForm(text, key), valueForm(text, value)]),
    )
  if (node.kind === 'unary' && node.operand.kind === 'literal') {
    const operand = valueForm(text, node.operand)
    return node.operator === '-' ? -Number(operand) : operand === false
  }
  if (node.kind !== 'template') return `\${${sourceOf(text, node)}}`
  const [only] = node.parts
  return node.parts.length === 1 && only?.kind === 'interpolation'
    ? valueForm(text, only.value)
    : partsForm(text, node.parts)
}

function keyForm(text: string, key: Expression): string {
  if (key.kind === 'literal') return String(valueForm(text, key))
  if (key.kind === 'template') return partsForm(text, key.parts)
  return key.kind === 'access' ? sourceOf(text, key) : `\${${sourceOf(text, key)}}`
}

const partsForm = (text: string, parts: readonly TemplatePart[]): string =>
  parts.map((part) => partForm(text, part)).join('')

function interpolationForm(text: string, value: Expression): string {
  const form = valueForm(text, value)
  return typeof form === 'object' && form !== null ? `\${${sourceOf(text, value)}}` : String(form)
}

function partForm(text: string, part: TemplatePart): string {
  if (part.kind === 'text') return part.text.replaceAll(/([$%])\{/g, '$1$1{')
  if (part.kind === 'interpolation') return interpolationForm(text, part.value)
  if (part.kind === 'if') {
    const otherwise =
      part.otherwise === undefined ? '' : `%{else}${partsForm(text, part.otherwise)}`
    return `%{if ${sourceOf(text, part.condition)}}${partsForm(text, part.then)}${otherwise}%{endif}`
  }
  const names = [part.keyName, part.valueName].flatMap((name) => name?.text ?? []).join(', ')
  const body = partsForm(text, part.parts)
  return `%{for ${names} in ${sourceOf(text, part.collection)}}${body}%{endfor}`
}
