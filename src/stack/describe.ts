// A description file to a stack: blocks by their types, variables, locals, resources, outputs.
import { DIAGNOSTICS_MAX, meantOrAll, type HclDiagnostic } from '#hcl/diagnostics.ts'
import { parseFile } from '#hcl/syntax/parse-body.ts'
import { BlockReader } from './block-reader.ts'
import { StackNames } from './stack-names.ts'
import { readOutputs } from './outputs.ts'
import { readResources } from './resources.ts'
import { RESOURCE_TYPES } from './resource-types.ts'
import type { DescribedStack, StackOptions } from './stack.ts'

const TYPES = [...Object.keys(RESOURCE_TYPES), 'variable', 'locals', 'output']

/** Throws nothing: faults of the file are diagnostics, in the order of their places. */
export function describeStack(options: StackOptions): DescribedStack {
  const { body, diagnostics: ofSyntax } = options.parsed ?? parseFile(options.source)
  const faults: HclDiagnostic[] = [...ofSyntax]
  for (const { name } of body.attributes) {
    const hint = `values of your own are in a block: locals { ${name.text} = … }`
    const message = `Expected blocks in the file, found the attribute ${name.text}`
    faults.push({ range: name.range, message, hint })
  }
  const blocks = Map.groupBy(body.blocks, ({ type }) => type.text)
  for (const { type } of body.blocks)
    if (!TYPES.includes(type.text)) {
      const hint = meantOrAll(type.text, TYPES)
      faults.push({ range: type.range, message: `There is no block ${type.text}`, hint })
    }
  const names = new StackNames(blocks, options)
  const reader = new BlockReader((node) => names.evaluate(node))
  const resources = readResources(names, reader)
  const outputs = readOutputs(blocks.get('output') ?? [], reader)
  const all = [...faults, ...names.reader.diagnostics, ...reader.diagnostics]
  const diagnostics = all
    .toSorted((a, b) => a.range.start - b.range.start)
    .slice(0, DIAGNOSTICS_MAX)
  return { stack: { resources, outputs }, diagnostics }
}
