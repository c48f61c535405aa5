// A description as text to its stack, and to its faults as line:column and message.
import { SourceText } from '#hcl/source-text.ts'
import { describeStack } from './describe.ts'
import type { ResourceStack, StackOptions } from './stack.ts'

export function described(text: string, options: Omit<StackOptions, 'source'> = {}) {
  const source = new SourceText('ergon.hcl', text)
  const { stack, diagnostics } = describeStack({ source, ...options })
  const faults = diagnostics.map(({ range, message, hint }) => {
    const { line, column } = source.placeOf(range.start)
    return `${line}:${column}: ${message}${hint === undefined ? '' : `; ${hint}`}`
  })
  return { stack, faults }
}

/** The stack of a text without faults. */
export function stackOf(text: string, options?: Omit<StackOptions, 'source'>): ResourceStack {
  const { stack, faults } = described(text, options)
  if (faults.length > 0) throw new RangeError(faults.join('\n'))
  return stack
}
