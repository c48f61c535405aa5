// A block of the file by the schema of its type. Each fault becomes a diagnostic, and the rest is read all the same.
import { DIAGNOSTICS_MAX, HclFault, meantOrAll, type HclDiagnostic } from '#hcl/diagnostics.ts'
import type { AttributeNode, BlockNode, Expression, NameNode } from '#hcl/syntax/nodes.ts'
import { Numeric } from '#hcl/values/numeric.ts'
import { isList, kindOf, UnknownValue, type HclValue } from '#hcl/values/value.ts'
import type { BlockType } from './block-type.ts'
import { pendingOf, type StackField } from './field.ts'

export type StackSpec = { readonly [name: string]: unknown }
type Owner = { readonly block: BlockNode; readonly type: BlockType }

export class BlockReader {
  readonly diagnostics: HclDiagnostic[] = []
  readonly #evaluate: (node: Expression) => HclValue

  /** `evaluate` throws HclFault. */
  constructor(evaluate: (node: Expression) => HclValue) {
    this.#evaluate = evaluate
  }

  /** Runs the work; a fault becomes a diagnostic and undefined. Beyond the limit of diagnostics nothing runs. */
  attempt<T>(work: () => T): T | undefined {
    if (this.diagnostics.length >= DIAGNOSTICS_MAX) return undefined
    try {
      return work()
    } catch (error) {
      if (!(error instanceof HclFault)) throw error
      this.diagnostics.push(error.diagnostic)
      return undefined
    }
  }

  report(node: { readonly range: HclDiagnostic['range'] }, message: string, hint?: string): void {
    this.diagnostics.push({ range: node.range, message, hint })
  }

  read(block: BlockNode, type: BlockType): StackSpec {
    const owner = { block, type }
    const label = this.#label(owner)
    const attributes = block.body.attributes.flatMap((attribute) => {
      const value = this.attempt(() => this.#attribute(owner, attribute))
      return value === undefined ? [] : [[attribute.name.text, value] as const]
    })
    this.#demand(owner)
    const spec = {
      ...(label === undefined ? {} : { name: label.text }),
      ...Object.fromEntries(attributes),
      ...this.#blocks(owner),
    }
    const wrong = type.check?.(spec)
    if (typeof wrong === 'string') this.report(block.type, wrong)
    else if (wrong !== undefined) {
      const inner = block.body.blocks.filter(({ type: name }) => name.text === wrong.block)[
        wrong.nth
      ]
      this.report((inner ?? block).type, wrong.text)
    }
    return spec
  }

  #label({ block, type }: Owner): NameNode | undefined {
    const [label, second] = block.labels
    const { label: rule } = type
    if (rule === undefined) {
      if (label !== undefined) this.report(label, `A block ${block.type.text} has no name`)
      return undefined
    }
    if (label === undefined)
      this.report(block.type, `Expected ${rule.expected} after ${block.type.text}`)
    else if (!rule.isValid(label.text))
      this.report(label, `Expected ${rule.expected}, found "${label.text.slice(0, SHOWN_MAX)}"`)
    if (second !== undefined) this.report(second, 'Expected { after the name, found another name')
    return label
  }

  /** Throws HclFault. Undefined of null, which is as good as no attribute. */
  #attribute({ block, type }: Owner, { name, value: node }: AttributeNode): unknown {
    const field = Object.hasOwn(type.attributes, name.text) ? type.attributes[name.text] : undefined
    if (field === undefined) throw unknownAttribute({ block, type }, name)
    const value = this.#evaluate(node)
    if (value === null) return undefined
    if (value instanceof UnknownValue) return pendingOf(value)
    const read = field.read(value)
    if (read === undefined)
      throw wrongItem(field, node, value) ?? unexpectedValue(node.range, field.expected, value)
    return read
  }

  #demand({ block, type }: Owner): void {
    const given = new Set(block.body.attributes.map(({ name }) => name.text))
    for (const [name, { isRequired, expected }] of Object.entries<StackField>(type.attributes))
      if (isRequired === true && !given.has(name))
        this.report(block.type, `${titleOf(block)} lacks ${name}: expected ${expected}`)
  }

  #blocks({ block, type }: Owner): StackSpec {
    const read: Record<string, StackSpec | StackSpec[]> = {}
    const labels = new Set<string>()
    for (const inner of block.body.blocks) {
      const name = inner.type.text
      const known = type.blocks !== undefined && Object.hasOwn(type.blocks, name)
      const innerType = known ? type.blocks?.[name] : undefined
      if (innerType === undefined) this.#unknownBlock({ block, type }, inner)
      else {
        const label = `${name} ${inner.labels[0]?.text ?? ''}`
        const most = innerType.countMax ?? 1
        const list = [read[name] ?? []].flat()
        if (innerType.label !== undefined && labels.has(label))
          this.report(inner.type, `Expected one ${label} in ${titleOf(block)}, found another`)
        if (list.length === most)
          this.report(
            inner.type,
            `Expected at most ${most} ${name} in ${titleOf(block)}, found another`,
          )
        labels.add(label)
        const spec = this.read(inner, innerType)
        read[name] = most === 1 ? spec : [...list, spec]
      }
    }
    return read
  }

  #unknownBlock({ block, type }: Owner, { type: name }: BlockNode): void {
    const title = titleOf(block)
    if (Object.hasOwn(type.attributes, name.text))
      this.report(name, `${name.text} of ${title} is an attribute`, `write ${name.text} = …`)
    else {
      const hint = meantOrAll(name.text, Object.keys(type.blocks ?? {}))
      this.report(name, `${title} has no block ${name.text}`, hint)
    }
  }
}

const SHOWN_MAX = 60

function unknownAttribute({ block, type }: Owner, name: NameNode): HclFault {
  const title = titleOf(block)
  if (type.blocks !== undefined && Object.hasOwn(type.blocks, name.text))
    return new HclFault(
      name.range,
      `${name.text} of ${title} is a block`,
      `write ${name.text} { … }`,
    )
  const names = [...Object.keys(type.attributes), ...Object.keys(type.blocks ?? {})]
  return new HclFault(
    name.range,
    `${title} has no attribute ${name.text}`,
    meantOrAll(name.text, names),
  )
}

/** The first item with a fault, at its own place where the list is written out. */
function wrongItem(field: StackField, node: Expression, value: HclValue): HclFault | undefined {
  if (value === null || !isList(value)) return undefined
  for (const [nth, item] of value.entries()) {
    const wrong = field.faultOf?.(item)
    const place = node.kind === 'list' ? (node.items[nth] ?? node) : node
    if (wrong !== undefined) return new HclFault(place.range, wrong.message, wrong.hint)
  }
  return undefined
}

/** `workload api`, `scale`. */
const titleOf = ({ type, labels }: BlockNode): string =>
  [type.text, labels[0]?.text.slice(0, SHOWN_MAX)].filter((word) => word !== undefined).join(' ')

/** `Expected a name, found "…"`; the value is undefined where it is hidden. */
export function unexpectedValue(
  range: HclDiagnostic['range'],
  expected: string,
  value: HclValue | undefined,
): HclFault {
  const hidden = `Expected ${expected}, found a hidden value`
  const shown = value === undefined ? hidden : `Expected ${expected}, found ${foundText(value)}`
  return new HclFault(range, shown, undefined, hidden)
}

function foundText(value: HclValue): string {
  if (value instanceof Numeric) return value.toString().slice(0, SHOWN_MAX)
  if (typeof value !== 'string') return kindOf(value)
  return value.length > SHOWN_MAX ? `"${value.slice(0, SHOWN_MAX)}…"` : `"${value}"`
}
