// Text to tokens in one pass without recursion: a stack has the templates and sequences that are open.
import { push, report, type OpenCode, type Scan } from './scan.ts'
import { scanTemplate } from './template-scanner.ts'
import type { SyntaxToken } from './tokens.ts'

const BLANK = /(?:[ \t]+|\r(?=\n))/y
const LINE_COMMENT = /(?:#|\/\/)[^\n]*/y
const IDENTIFIER = /[\p{ID_Start}_][\p{ID_Continue}-]*/uy
const NUMBER = /[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const HEREDOC = /<<(-?)([\p{ID_Start}_][\p{ID_Continue}-]*)\r?\n/uy
const SYMBOL = /\.\.\.|=>|==|!=|<=|>=|&&|\|\||::|[-+*/%<>=!?:.,()[\]{}]/y

/** Tokens of a file at most: reading one holds up all else of the process for some ten milliseconds. */
export const SOURCE_TOKENS_MAX = 50_000

/** Throws nothing: text that is no token becomes a diagnostic, and so does text beyond the limit. */
export function scanTokens(text: string): Pick<Scan, 'tokens' | 'diagnostics'> {
  const code: OpenCode = { kind: 'code', isSequence: false, braces: 0 }
  const scan: Scan = { text, at: 0, modes: [code], tokens: [], diagnostics: [] }
  while (scan.at < text.length) {
    if (scan.tokens.length >= SOURCE_TOKENS_MAX) return beyondLimit(scan)
    const mode = scan.modes.at(-1) ?? code
    if (mode.kind === 'code') scanCode(scan, mode)
    else scanTemplate(scan, mode)
  }
  closeAll(scan)
  push(scan, 'end of file', 0)
  return { tokens: scan.tokens, diagnostics: scan.diagnostics }
}

/** Nothing of such a file is parsed. */
function beyondLimit({ at }: Scan): Pick<Scan, 'tokens' | 'diagnostics'> {
  const range = { start: at, end: at + 1 }
  const end: SyntaxToken = { kind: 'end of file', range, text: '' }
  const message = `Expected at most ${SOURCE_TOKENS_MAX} names, values and signs in a file`
  return { tokens: [end], diagnostics: [{ range, message, hint: undefined }] }
}

/** The length of the match here; 0 without one. */
const lengthOf = (scan: Scan, pattern: RegExp): number => {
  pattern.lastIndex = scan.at
  return pattern.exec(scan.text)?.[0].length ?? 0
}

function scanCode(scan: Scan, mode: OpenCode): void {
  const { text, at } = scan
  const skipped = lengthOf(scan, BLANK) || lengthOf(scan, LINE_COMMENT)
  if (skipped > 0) return void (scan.at += skipped)
  if (text.startsWith('/*', at)) return skipComment(scan)
  if (text[at] === '\n') return push(scan, 'newline', 1)
  const word = lengthOf(scan, IDENTIFIER)
  if (word > 0) return push(scan, 'identifier', word)
  const number = lengthOf(scan, NUMBER)
  if (number > 0) return push(scan, 'number', number)
  if (text[at] === '"') return openQuote(scan)
  if (openHeredoc(scan)) return
  if (mode.isSequence && mode.braces === 0 && /^~?\}/.test(text.slice(at, at + 2)))
    return closeSequence(scan)
  const symbol = lengthOf(scan, SYMBOL)
  if (symbol === 0) return refuse(scan)
  if (text[at] === '{') mode.braces++
  if (text[at] === '}') mode.braces = Math.max(0, mode.braces - 1)
  push(scan, 'symbol', symbol)
}

function skipComment(scan: Scan): void {
  const end = scan.text.indexOf('*/', scan.at + 2)
  if (end === -1)
    report(scan, { at: scan.at, length: 2 }, 'This comment has no end', 'close it with */')
  scan.at = end === -1 ? scan.text.length : end + 2
}

function openQuote(scan: Scan): void {
  push(scan, 'template open', 1)
  scan.modes.push({ kind: 'quote', openedAt: scan.at - 1 })
}

function openHeredoc(scan: Scan): boolean {
  HEREDOC.lastIndex = scan.at
  const found = HEREDOC.exec(scan.text)
  if (found === null) return false
  const [whole, , marker = ''] = found
  scan.modes.push({ kind: 'heredoc', openedAt: scan.at, marker })
  push(scan, 'template open', whole.length)
  return true
}

function closeSequence(scan: Scan): void {
  push(scan, 'sequence close', scan.text[scan.at] === '~' ? 2 : 1)
  scan.modes.pop()
}

const HINTS: Readonly<Record<string, string>> = {
  "'": 'texts have double quotes: "…"',
  '`': 'texts have double quotes: "…", or begin with <<EOT where they have several lines',
  ';': 'attributes and blocks have a line each, and items of a list a comma between them',
  '&': 'both conditions hold: &&',
  '|': 'one of two conditions holds: ||',
  '<': 'a text of several lines begins with <<EOT, and EOT ends it',
}

function refuse(scan: Scan): void {
  const character = String.fromCodePoint(scan.text.codePointAt(scan.at) ?? 0)
  const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
  const name = /[\p{C}\p{Z}]/u.test(character) ? `U+${code}` : character
  const place = { at: scan.at, length: character.length }
  report(scan, place, `The language has no character ${name}`, HINTS[character])
  scan.at += character.length
}

/** The file has ended: so does all that is open, and the outermost one lacks its end. */
function closeAll(scan: Scan): void {
  const open = scan.modes.slice(1)
  const [first] = open
  if (first !== undefined && first.kind !== 'code') {
    const end = first.kind === 'heredoc' ? `a line with ${first.marker} alone` : 'a closing quote'
    scan.diagnostics.push({
      range: { start: first.openedAt, end: first.openedAt + 1 },
      message: `This text has no end: expected ${end}, and the file ends`,
      hint: undefined,
    })
  }
  for (const mode of open.toReversed())
    push(scan, mode.kind === 'code' ? 'sequence close' : 'template close', 0)
}
