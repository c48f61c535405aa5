// <<-NAME: the blanks that all lines have in common are no part of the text. Lines of blanks alone do not count.
import type { FlatPart } from './flat-part.ts'

/** `parts` have a text of their own for each line, as the scanner makes them. */
export function unindent(parts: readonly FlatPart[]): FlatPart[] {
  const indents = parts.map((part, index) =>
    beginsLine(parts, index) ? indentOf(part) : undefined,
  )
  const common = Math.min(...indents.filter((indent) => indent !== undefined))
  return parts.flatMap((part, index) => {
    if (indents[index] === undefined || part.kind !== 'text') return [part]
    const text = part.text.slice(common)
    return text === '' ? [] : [{ ...part, text }]
  })
}

function beginsLine(parts: readonly FlatPart[], index: number): boolean {
  const before = parts[index - 1]
  return before === undefined || (before.kind === 'text' && before.text.endsWith('\n'))
}

/** Undefined of a line of blanks. */
function indentOf(part: FlatPart): number | undefined {
  if (part.kind !== 'text') return 0
  const rest = part.text.trimStart()
  return rest === '' && part.text.endsWith('\n') ? undefined : part.text.length - rest.length
}
