// A fault of a description file: its place, the expectation, and a way to mend it.
import { didYouMean } from '#base/nearest.ts'
import type { SourceText, TextRange } from './source-text.ts'

export type HclDiagnostic = {
  readonly range: TextRange
  /** One sentence without a full stop: the expected form, and the found one. */
  readonly message: string
  /** A way to mend it; undefined where the message says it all. */
  readonly hint: string | undefined
  /** The same without a value of an expression; undefined where the message or the hint may quote one. */
  readonly withoutValues?: string
}

/** Diagnostics of a file at most: the first ones matter, the later ones follow from them. */
export const DIAGNOSTICS_MAX = 50
const LINE_CHARACTERS_MAX = 200

/** Ends the work on one attribute or block. Only code of the language throws and catches it. */
export class HclFault extends Error {
  override readonly name = 'HclFault'
  readonly diagnostic: HclDiagnostic
  constructor(range: TextRange, message: string, hint?: string, withoutValues?: string) {
    super(message)
    const said = { range, message, hint }
    this.diagnostic = withoutValues === undefined ? said : { ...said, withoutValues }
  }
}

export const HIDDEN_VALUE_MISFITS = 'A hidden value does not fit here'

/** The fault as it may be told where its values are hidden. */
export const withoutValues = ({ range, withoutValues: said }: HclDiagnostic): HclDiagnostic => ({
  range,
  message: said ?? HIDDEN_VALUE_MISFITS,
  hint: undefined,
})

/** The most words that a hint lists: a file can have thousands of names. */
const LISTED_MAX = 30

/** The near word, else the list: `there are cpu, image, memory`. */
export function meantOrAll(text: string, words: readonly string[]): string {
  const meant = didYouMean(text, words)
  if (meant !== undefined) return meant
  if (words.length === 0) return 'there are none'
  const listed = words.toSorted().slice(0, LISTED_MAX).join(', ')
  return `there are ${listed}${words.length > LISTED_MAX ? ' and others' : ''}`
}

/** `ergon.hcl:7:19: message; hint`. */
export function diagnosticLine(
  source: SourceText,
  { range, message, hint }: HclDiagnostic,
): string {
  const { line, column } = source.placeOf(range.start)
  return `${source.name}:${line}:${column}: ${message}${hint === undefined ? '' : `; ${hint}`}`
}

/** Prints a diagnostic with its line of the file, and a caret below the fault. */
export function renderDiagnostic(source: SourceText, diagnostic: HclDiagnostic): string {
  const { range } = diagnostic
  const { line, column } = source.placeOf(range.start)
  const head = diagnosticLine(source, diagnostic)
  const text = source.lineOf(range.start)
  if (text.length > LINE_CHARACTERS_MAX) return head
  const margin = ' '.repeat(String(line).length)
  const before = [...text].slice(0, column - 1)
  const indent = before.map((one) => (one === '\t' ? '\t' : ' ')).join('')
  const width = Math.max(1, Math.min(range.end - range.start, text.length - indent.length))
  return [head, ` ${line} | ${shown(text)}`, ` ${margin} | ${indent}${'^'.repeat(width)}`].join(
    '\n',
  )
}

/** Control characters of the file must not move the cursor of a terminal. */
const shown = (text: string): string => text.replaceAll(/[^\P{C}\t]/gu, '\u{FFFD}')

/** The diagnostic as data: the same place in figures. */
export function diagnosticRecord(source: SourceText, { range, message, hint }: HclDiagnostic) {
  return { file: source.name, ...source.placeOf(range.start), message, hint: hint ?? null }
}
