// The state of the scanner: its open brackets and templates, and the found tokens.
import { DIAGNOSTICS_MAX, type HclDiagnostic } from '#hcl/diagnostics.ts'
import type { SyntaxToken, TokenKind } from './tokens.ts'

/** Ordinary text: of the file, or of a `${…}` with the braces that are open in it. */
export type OpenCode = { readonly kind: 'code'; readonly isSequence: boolean; braces: number }
export type OpenTemplate =
  | { readonly kind: 'quote'; readonly openedAt: number }
  | { readonly kind: 'heredoc'; readonly openedAt: number; readonly marker: string }
type Mode = OpenCode | OpenTemplate

/** Where the scanner is. */
export type Scan = {
  readonly text: string
  at: number
  readonly modes: Mode[]
  readonly tokens: SyntaxToken[]
  readonly diagnostics: HclDiagnostic[]
}

/** Appends the token of that length, and goes on behind it. */
export function push(scan: Scan, kind: TokenKind, length: number, cooked?: string): void {
  const range = { start: scan.at, end: scan.at + length }
  scan.tokens.push({ kind, range, text: cooked ?? scan.text.slice(range.start, range.end) })
  scan.at = range.end
}

export function report(
  scan: Scan,
  { at, length }: { at: number; length: number },
  message: string,
  hint?: string,
): void {
  if (scan.diagnostics.length >= DIAGNOSTICS_MAX) return
  const range = { start: at, end: at + length }
  scan.diagnostics.push({ range, message, hint })
}
