// The resources of a file in the order of their needs. A trigger needs the bucket that it names.
import type { BlockNode } from '#hcl/syntax/nodes.ts'
import { bucketOfWord } from '#contract/storage/object-created.ts'
import type { BlockReader, StackSpec } from './block-reader.ts'
import { ordered } from './ordered.ts'
import { RESOURCE_TYPES, type ResourceTypeName } from './resource-types.ts'
import type { StackNames } from './stack-names.ts'
import { RESOURCES_MAX, type StackResource } from './stack.ts'

export function readResources(names: StackNames, reader: BlockReader): StackResource[] {
  const read = new Map<string, { block: BlockNode; spec: StackSpec; needs: Set<string> }>()
  for (const [address, block] of [...names.resources].slice(0, RESOURCES_MAX)) {
    const spec = reader.read(block, RESOURCE_TYPES[typeOf(block)])
    const needs = new Set([...names.needsOf(block.body), ...bucketsOf(spec, names)])
    read.set(address, { block, spec, needs })
  }
  const [beyond] = [...names.resources.values()].slice(RESOURCES_MAX)
  if (beyond !== undefined)
    reader.report(beyond.type, `Expected at most ${RESOURCES_MAX} resources in a file`)
  const { order, cycles } = ordered(
    new Map([...read].map(([address, { needs }]) => [address, needs])),
  )
  for (const cycle of cycles) names.reportCycle(cycle, read.get(cycle[0] ?? '')?.block.type)
  return order.flatMap((address) => {
    const one = read.get(address)
    if (one === undefined) return []
    const { block, spec, needs } = one
    const range = {
      start: block.type.range.start,
      end: (block.labels.at(-1) ?? block.type).range.end,
    }
    const name = block.labels[0]?.text ?? ''
    const resource: unknown = { address, type: typeOf(block), name, range, needs: [...needs], spec }
    // The spec was read by the schema of the type.
    return [resource as StackResource]
  })
}

/** The caller has only blocks of these types. */
const typeOf = ({ type }: BlockNode): ResourceTypeName => type.text as ResourceTypeName

function bucketsOf(spec: StackSpec, { resources }: StackNames): string[] {
  const words = [spec['on'], spec['events']].flat()
  return words.flatMap((word) => {
    const bucket = typeof word === 'string' ? bucketOfWord(word) : undefined
    const address = `bucket.${bucket}`
    return resources.has(address) ? [address] : []
  })
}
