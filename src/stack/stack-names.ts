// Everything that expressions of a file can name: var, local, and the resources with the attributes that are known of them.
import { HclFault, meantOrAll } from '#hcl/diagnostics.ts'
import { evaluate } from '#hcl/evaluate/evaluate.ts'
import { EvaluationBudget } from '#hcl/evaluate/evaluation-budget.ts'
import { referencesOf, type HclReference } from '#hcl/evaluate/references.ts'
import type { HclFunction } from '#hcl/functions/function.ts'
import { HCL_FUNCTIONS } from '#hcl/functions/functions.ts'
import type { AttributeNode, BlockNode, BodyNode, Expression } from '#hcl/syntax/nodes.ts'
import { ResourceValue, UnknownValue, type HclValue } from '#hcl/values/value.ts'
import { BlockReader } from './block-reader.ts'
import { ordered } from './ordered.ts'
import { RESOURCE_TYPES } from './resource-types.ts'
import type { StackOptions } from './stack.ts'
import { readVariables } from './variables.ts'

/** The words of messages for each kind of name. */
const TITLES: Readonly<Record<string, string>> = { var: 'variable', local: 'local value' }

export class StackNames {
  /** Has the faults of variables, locals and cycles. */
  readonly reader = new BlockReader((node) => this.evaluate(node))
  /** The first block of each address, in the order of the file. */
  readonly resources = new Map<string, BlockNode>()
  readonly #budget = new EvaluationBudget()
  readonly #functions: ReadonlyMap<string, HclFunction>
  readonly #options: StackOptions
  readonly #locals = new Map<string, AttributeNode>()
  readonly #localNeeds = new Map<string, ReadonlySet<string>>()
  readonly #names = new Map<string, Map<string, HclValue>>()

  constructor(blocks: ReadonlyMap<string, readonly BlockNode[]>, options: StackOptions) {
    this.#options = options
    this.#functions = new Map([...HCL_FUNCTIONS, ...(options.functions ?? [])])
    const variables = readVariables(
      blocks.get('variable') ?? [],
      {
        given: options.variables ?? new Map(),
        isRevealed: options.isRevealed ?? false,
        evaluate: (node) => this.#evaluateWith(node, new Map()),
      },
      this.reader,
    )
    this.#names.set('var', variables)
    this.#names.set('local', new Map())
    for (const [type, { outputs }] of Object.entries(RESOURCE_TYPES))
      this.#addResources(type, Object.keys(outputs), blocks.get(type) ?? [])
    this.#addLocals(blocks.get('locals') ?? [])
  }

  /** Throws HclFault. */
  evaluate(node: Expression): HclValue {
    for (const reference of referencesOf(node)) this.#demand(reference)
    return this.#evaluateWith(node, this.#names)
  }

  /** Addresses of the resources that the body refers to, also by way of local values. */
  needsOf(body: BodyNode): Set<string> {
    const needs = new Set<string>()
    const seen = new Set<string>()
    const open = [...addressesIn(body)]
    for (let address = open.pop(); address !== undefined; address = open.pop()) {
      if (seen.has(address)) continue
      seen.add(address)
      const local = this.#localNeeds.get(address)
      if (local !== undefined) open.push(...local)
      else if (this.resources.has(address)) needs.add(address)
    }
    return needs
  }

  #addResources(type: string, outputs: readonly string[], blocks: readonly BlockNode[]): void {
    const values = new Map<string, HclValue>()
    for (const block of blocks) {
      const [label] = block.labels
      const address = `${type}.${label?.text ?? ''}`
      if (this.resources.has(address) && label !== undefined)
        this.reader.report(label, `Expected one ${type} ${label.text}, found another`)
      // Without a name it is read all the same, for its other faults.
      this.resources.set(
        this.resources.has(address) ? `${address}#${block.range.start}` : address,
        block,
      )
      if (label === undefined || values.has(label.text)) continue
      const known = this.#options.known?.get(address)
      const attributes = outputs.map(
        (name) => [name, known?.get(name) ?? new UnknownValue([`${address}.${name}`])] as const,
      )
      const all = new Map<string, HclValue>([['name', label.text], ...attributes])
      values.set(label.text, new ResourceValue(type, label.text, all))
    }
    this.#names.set(type, values)
  }

  #addLocals(blocks: readonly BlockNode[]): void {
    for (const block of blocks) {
      for (const label of block.labels) this.reader.report(label, 'A block locals has no name')
      for (const inner of block.body.blocks)
        this.reader.report(inner.type, 'Expected attributes in locals, found a block')
      for (const attribute of block.body.attributes) {
        const address = `local.${attribute.name.text}`
        if (this.#locals.has(address))
          this.reader.report(attribute.name, `Expected ${address} once, found another`)
        else this.#locals.set(address, attribute)
      }
    }
    const values = this.#names.get('local')
    // Until it is evaluated, and for good after a fault: what uses it has no further fault.
    for (const [address, { name }] of this.#locals)
      values?.set(name.text, new UnknownValue([address]))
    for (const [address, { value }] of this.#locals)
      this.#localNeeds.set(address, new Set(addressesOf(value)))
    const { order, cycles } = ordered(this.#localNeeds)
    for (const cycle of cycles) this.reportCycle(cycle, this.#locals.get(cycle[0] ?? '')?.name)
    for (const address of order) {
      const local = this.#locals.get(address)
      const value = local && this.reader.attempt(() => this.evaluate(local.value))
      if (local !== undefined && value !== undefined) values?.set(local.name.text, value)
    }
  }

  reportCycle(cycle: readonly string[], node?: { readonly range: BlockNode['range'] }): void {
    const message = `Expected an end of the references, found a cycle: ${cycle.join(' → ')}`
    if (node !== undefined) this.reader.report(node, message)
  }

  #demand({ root, name, range }: HclReference): void {
    const known = this.#names.get(root)
    if (known === undefined) return
    if (name === undefined)
      throw new HclFault(range, `Expected a name after ${root}`, `such as ${root}.<name>`)
    if (known.has(name)) return
    const title = TITLES[root] ?? root
    const hint = meantOrAll(name, [...known.keys()])
    throw new HclFault(range, `The file has no ${title} ${name}`, hint)
  }

  #evaluateWith(node: Expression, names: ReadonlyMap<string, HclValue>): HclValue {
    return evaluate(node, { names, functions: this.#functions, budget: this.#budget })
  }
}

function addressesIn({ attributes, blocks }: BodyNode): string[] {
  return [
    ...attributes.flatMap(({ value }) => addressesOf(value)),
    ...blocks.flatMap(({ body }) => addressesIn(body)),
  ]
}

const addressesOf = (node: Expression): string[] =>
  [...referencesOf(node)].map(({ root, name }) => `${root}.${name}`)
