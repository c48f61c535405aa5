// docs/reference/description-file.md: blocks and functions of the description file, from the tables that it is read by.
import { HCL_FUNCTIONS } from '#hcl/functions/functions.ts'
import type { BlockType } from '#stack/block-type.ts'
import { RESOURCE_TYPES } from '#stack/resource-types.ts'
import { table } from './reference.ts'

const code = (text: string) => `\`${text}\``

function attributeRows({ attributes, blocks = {} }: BlockType, before = ''): string[][] {
  const own = Object.entries(attributes).map(([name, { help, expected, isRequired }]) => [
    code(before + name),
    isRequired === true ? 'yes' : '',
    expected,
    help,
  ])
  const inner = Object.entries(blocks).flatMap(([name, block]) => [
    [code(`${before}${name} {}`), '', block.label?.expected ?? 'a block', block.help],
    ...attributeRows(block, `${before}${name}.`),
  ])
  return [...own, ...inner]
}

function resourceSections(): string {
  return Object.entries(RESOURCE_TYPES)
    .map(([type, block]) => {
      const outputs = Object.entries<string>(block.outputs).map(([name, help]) => [
        code(name),
        help,
      ])
      const all = [[code('name'), 'The name of the block'], ...outputs]
      return `## ${type}

${block.help}. Its name: ${block.label.expected}.

${table(['Attribute or block', 'Required', 'Expected', 'What it is'], attributeRows(block))}

Others refer to ${code(`${type}.<name>`)} and to its attributes:

${table(['Attribute', 'What it is'], all)}
`
    })
    .join('\n')
}

export function descriptionPage(): string {
  const functions = [...HCL_FUNCTIONS.values()].map(({ usage, help, example: [call, gives] }) => [
    code(usage),
    help,
    `${code(call)} is ${code(gives)}`,
  ])
  return `<!-- Printed from src/stack/resource-types.ts and src/hcl/functions by \`npm run generate\`. -->

# The description file

The blocks of \`ergon.hcl\`, and the functions of its expressions. [Its guide](../guide/description-file.md) has examples.

${resourceSections()}
## Functions

${table(['Function', 'What it gives', 'Example'], functions)}

\`try(values...)\` gives the first value that can be evaluated, and \`can(value)\` whether a value can.
`
}
