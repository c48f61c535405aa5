// The inside of "…" and of <<NAME texts: stretches of text, and the sequences ${…} and %{…} between them.
import { push, report, type OpenTemplate, type Scan } from './scan.ts'

export function scanTemplate(scan: Scan, mode: OpenTemplate): void {
  const { text, at } = scan
  if (mode.kind === 'heredoc' && closesHeredoc(scan, mode.marker)) return
  const opener = text.slice(at, at + 2)
  if (opener === '${' || opener === '%{') {
    const kind = opener === '${' ? 'interpolation open' : 'directive open'
    push(scan, kind, text[at + 2] === '~' ? 3 : 2)
    scan.modes.push({ kind: 'code', isSequence: true, braces: 0 })
  } else if (mode.kind === 'quote' && text[at] === '"') {
    push(scan, 'template close', 1)
    scan.modes.pop()
  } else if (mode.kind === 'quote' && text[at] === '\n') {
    const hint = 'close the quote, write \\n for a new line, or begin the text with <<EOT'
    report(scan, { at, length: 1 }, 'A text in quotes ends on its line', hint)
    push(scan, 'template close', 0)
    scan.modes.pop()
  } else scanText(scan, mode.kind === 'quote')
}

/** A line with the marker alone ends a heredoc. It may be indented; the newline after it stays. */
function closesHeredoc(scan: Scan, marker: string): boolean {
  const { text, at } = scan
  if (text[at - 1] !== '\n') return false
  const lineEnd = text.indexOf('\n', at)
  const line = text.slice(at, lineEnd === -1 ? text.length : lineEnd)
  if (line.trim() !== marker) return false
  push(scan, 'template close', line.trimEnd().length)
  scan.modes.pop()
  return true
}

/** Up to the next sequence, quote, or the end of the line. */
function scanText(scan: Scan, isQuote: boolean): void {
  const { text } = scan
  let cooked = ''
  let end = scan.at
  while (end < text.length) {
    const two = text.slice(end, end + 2)
    if (two === '${' || two === '%{') break
    if (isQuote && (text[end] === '"' || text[end] === '\n')) break
    if (isQuote && text[end] === '\\') {
      const { length, value } = escapeAt(scan, end)
      cooked += value
      end += length
    } else if (/^(\$\$|%%)\{/.test(text.slice(end, end + 3))) {
      cooked += text.slice(end + 1, end + 3)
      end += 3
    } else {
      cooked += text[end]
      end++
      if (!isQuote && text[end - 1] === '\n') break
    }
  }
  push(scan, 'template text', end - scan.at, cooked.normalize('NFC'))
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  '"': '"',
  '\\': '\\',
}
const UNICODE_ESCAPE = /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/y
const ESCAPE_HINT =
  'there are \\n, \\r, \\t, \\", \\\\, \\u with 4 and \\U with 8 hexadecimal digits'

function escapeAt(scan: Scan, at: number): { length: number; value: string } {
  const letter = scan.text[at + 1] ?? ''
  const plain = ESCAPES[letter]
  if (plain !== undefined) return { length: 2, value: plain }
  UNICODE_ESCAPE.lastIndex = at
  const found = UNICODE_ESCAPE.exec(scan.text)
  const code = Number.parseInt(found?.[1] ?? found?.[2] ?? '', 16)
  if (found !== null && code <= 0x10_ff_ff && (code < 0xd8_00 || code > 0xdf_ff))
    return { length: found[0].length, value: String.fromCodePoint(code) }
  // A line break after the backslash is the scanner's to report.
  const length = letter === '' || letter === '\n' ? 1 : 2
  report(scan, { at, length }, 'This escape has no meaning', ESCAPE_HINT)
  return { length, value: '' }
}
