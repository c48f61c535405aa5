// Steps after a term: .name, .0, [key], .* and [*].
import { HclFault } from '#hcl/diagnostics.ts'
import { Numeric } from '#hcl/values/numeric.ts'
import type { AccessStep, Expression } from './nodes.ts'
import type { SyntaxReader } from './syntax-reader.ts'

/** Steps of one access at most: `[*]` within `[*]` makes depth. */
const STEPS_MAX = 100

export function parseAccess(reader: SyntaxReader, of: Expression): Expression {
  const steps: AccessStep[] = []
  for (;;) {
    const step = reader.is('.') ? parseDot(reader) : reader.is('[') ? parseIndex(reader) : undefined
    if (step === undefined) break
    if (steps.push(step) > STEPS_MAX)
      throw new HclFault(step.range, `Expected at most ${STEPS_MAX} steps of an access`)
  }
  return steps.length === 0 ? of : { kind: 'access', of, steps, range: reader.rangeFrom(of.range) }
}

function parseDot(reader: SyntaxReader): AccessStep {
  const { range: start } = reader.next()
  if (reader.take('*')) return { kind: 'splat', full: false, range: reader.rangeFrom(start) }
  const token = reader.peek()
  if (token.kind === 'number') {
    const number = /^\d+$/.test(token.text) ? Numeric.read(token.text) : undefined
    if (number === undefined) throw reader.unexpected('a name after the dot', 'an index is [0]')
    reader.next()
    const key = { kind: 'literal', value: number, range: token.range } as const
    return { kind: 'index', key, range: reader.rangeFrom(start) }
  }
  const { text: name } = reader.expectName('a name after the dot')
  return { kind: 'attribute', name, range: reader.rangeFrom(start) }
}

function parseIndex(reader: SyntaxReader): AccessStep {
  const { range: start } = reader.next()
  const key = reader.enclosed({ close: ']', after: 'after the index' }, () =>
    reader.take('*') ? undefined : reader.expression(),
  )
  const range = reader.rangeFrom(start)
  return key === undefined ? { kind: 'splat', full: true, range } : { kind: 'index', key, range }
}
