// A syntax tree as text again, in one form: what the parser makes of it must be the same tree.
import type {
  AccessStep,
  BodyNode,
  Expression,
  ForNode,
  NameNode,
  TemplatePart,
} from '#hcl/syntax/nodes.ts'

export const printBody = ({ attributes, blocks }: BodyNode): string =>
  [
    ...attributes.map(({ name, value }) => `${name.text} = ${print(value)}\n`),
    ...blocks.map(({ type, labels, body }) => {
      const head = [type.text, ...labels.map(({ text }) => quote(text))].join(' ')
      return `${head} {\n${printBody(body)}}\n`
    }),
  ].join('')

function print(node: Expression): string {
  switch (node.kind) {
    case 'literal':
      return String(node.value)
    case 'template':
      return `"${printParts(node.parts)}"`
    case 'list':
      return `[${node.items.map(print).join(', ')}]`
    case 'object':
      return `{${node.entries.map(({ key, value }) => `${print(key)} = ${print(value)}`).join(', ')}}`
    case 'reference':
      return node.name
    case 'access':
      return `${print(node.of)}${node.steps.map(printStep).join('')}`
    case 'call':
      return `${node.name.text}(${node.args.map(print).join(', ')}${node.expands ? '...' : ''})`
    case 'unary':
      return `${node.operator}${print(node.operand)}`
    case 'chain':
      return [
        print(node.first),
        ...node.rest.map(({ operator, operand }) => `${operator} ${print(operand)}`),
      ].join(' ')
    case 'conditional':
      return `${print(node.condition)} ? ${print(node.then)} : ${print(node.otherwise)}`
    case 'for':
      return printFor(node)
    case 'parentheses':
      return `(${print(node.inner)})`
  }
}

const printStep = (step: AccessStep): string => {
  if (step.kind === 'attribute') return `.${step.name}`
  if (step.kind === 'splat') return step.full ? '[*]' : '.*'
  return `[${print(step.key)}]`
}

const printIntro = (node: {
  keyName?: NameNode | undefined
  valueName: NameNode
  collection: Expression
}) =>
  `for ${node.keyName === undefined ? '' : `${node.keyName.text}, `}${node.valueName.text} in ${print(node.collection)}`

function printFor(node: ForNode): string {
  const condition = node.condition === undefined ? '' : ` if ${print(node.condition)}`
  if (node.key === undefined) return `[${printIntro(node)} : ${print(node.value)}${condition}]`
  const value = `${print(node.value)}${node.grouped ? '...' : ''}`
  return `{${printIntro(node)} : ${print(node.key)} => ${value}${condition}}`
}

const escape = (text: string): string =>
  JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(/\\[bf]/g, (found) => (found === '\\b' ? '\\u0008' : '\\u000c'))
    .replaceAll(/([$%])\{/g, '$1$1{')
const quote = (text: string): string => `"${escape(text)}"`

const printParts = (parts: readonly TemplatePart[]): string => parts.map(printPart).join('')

function printPart(part: TemplatePart): string {
  switch (part.kind) {
    case 'text':
      return escape(part.text)
    case 'interpolation':
      return `\${${print(part.value)}}`
    case 'if': {
      const otherwise = part.otherwise === undefined ? '' : `%{else}${printParts(part.otherwise)}`
      return `%{if ${print(part.condition)}}${printParts(part.then)}${otherwise}%{endif}`
    }
    case 'each':
      return `%{${printIntro(part)}}${printParts(part.parts)}%{endfor}`
  }
}
