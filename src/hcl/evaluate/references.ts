// The names that an expression refers to, without an evaluation: the order of locals and resources follows from them.
import type { TextRange } from '#hcl/source-text.ts'
import type { AccessStep, Expression, TemplatePart } from '#hcl/syntax/nodes.ts'

export type HclReference = {
  /** var, local, or the type of a resource. */
  readonly root: string
  /** The name after the dot; undefined where it is computed, which may be any. */
  readonly name: string | undefined
  readonly range: TextRange
}

type Hidden = ReadonlySet<string>
const NONE: Hidden = new Set()

/** Names that a `for` gives to its items are no references. */
export function* referencesOf(node: Expression, hidden: Hidden = NONE): Generator<HclReference> {
  if (node.kind === 'reference') {
    if (!hidden.has(node.name)) yield { root: node.name, name: undefined, range: node.range }
  } else if (node.kind === 'access') yield* ofAccess(node, hidden)
  else if (node.kind === 'template') for (const part of node.parts) yield* ofPart(part, hidden)
  else if (node.kind === 'for') {
    yield* referencesOf(node.collection, hidden)
    const inner = new Set([...hidden, ...namesOf(node)])
    for (const part of [node.key, node.value, node.condition])
      if (part !== undefined) yield* referencesOf(part, inner)
  } else for (const part of partsOf(node)) yield* referencesOf(part, hidden)
}

function* ofAccess(
  { of, steps, range }: Expression & { kind: 'access' },
  hidden: Hidden,
): Generator<HclReference> {
  if (of.kind !== 'reference') yield* referencesOf(of, hidden)
  else if (!hidden.has(of.name)) yield { root: of.name, name: nameOf(steps[0]), range }
  for (const step of steps) if (step.kind === 'index') yield* referencesOf(step.key, hidden)
}

function nameOf(step: AccessStep | undefined): string | undefined {
  if (step?.kind === 'attribute') return step.name
  if (step?.kind !== 'index' || step.key.kind !== 'template') return undefined
  const [only, ...others] = step.key.parts
  return only?.kind === 'text' && others.length === 0 ? only.text : undefined
}

function* ofPart(part: TemplatePart, hidden: Hidden): Generator<HclReference> {
  if (part.kind === 'interpolation') yield* referencesOf(part.value, hidden)
  else if (part.kind === 'if') {
    yield* referencesOf(part.condition, hidden)
    for (const one of [...part.then, ...(part.otherwise ?? [])]) yield* ofPart(one, hidden)
  } else if (part.kind === 'each') {
    yield* referencesOf(part.collection, hidden)
    const inner = new Set([...hidden, ...namesOf(part)])
    for (const one of part.parts) yield* ofPart(one, inner)
  }
}

type ForNames = {
  readonly keyName: { readonly text: string } | undefined
  readonly valueName: { readonly text: string }
}
const namesOf = ({ keyName, valueName }: ForNames): string[] =>
  keyName === undefined ? [valueName.text] : [keyName.text, valueName.text]

type Compound = Exclude<
  Expression,
  { kind: 'reference' } | { kind: 'access' } | { kind: 'template' } | { kind: 'for' }
>

function partsOf(node: Compound): readonly Expression[] {
  switch (node.kind) {
    case 'literal':
      return []
    case 'list':
      return node.items
    case 'object':
      return node.entries.flatMap(({ key, value }) => [key, value])
    case 'call':
      return node.args
    case 'unary':
      return [node.operand]
    case 'chain':
      return [node.first, ...node.rest.map(({ operand }) => operand)]
    case 'conditional':
      return [node.condition, node.then, node.otherwise]
    case 'parentheses':
      return [node.inner]
  }
}
