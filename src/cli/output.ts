// Output of the command line: data on stdout, messages on stderr. With --json, stdout gets one JSON value, and the
// last line of stderr is an error as one JSON object. Colours and progress bars are for terminals only.
import { createProgressBar, type ProgressBar } from '#base/progress-bar.ts'
import { environment } from './environment.ts'

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  login: 4,
  payment: 5,
  receipt: 6,
} as const

/** Ends a command with a message, an exit code, a next step and the code that --json prints. */
export class CommandError extends Error {
  readonly exitCode: number
  readonly next: string | undefined
  /** The service's code for the error, where the service answered; else the name of the exit code. */
  readonly code: string
  /** Where the service answered. */
  requestId: string | undefined
  constructor(message: string, exitCode: number = EXIT.failed, next?: string, code?: string) {
    super(message)
    this.exitCode = exitCode
    this.next = next
    this.code = code ?? CODES.get(exitCode) ?? 'interrupted'
  }
}

const CODES: ReadonlyMap<number, string> = new Map([
  [EXIT.failed, 'failed'],
  [EXIT.usage, 'wrong_usage'],
  [EXIT.login, 'login_needed'],
  [EXIT.payment, 'payment_needed'],
  [EXIT.receipt, 'receipt_does_not_hold'],
])

export const print = (text: string): void => void process.stdout.write(`${text}\n`)
export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2))

export type LabelledText = readonly [label: string, text: string]
const LABEL_WIDTH = 16
export const printLabelled = (lines: readonly LabelledText[]): void => {
  for (const [label, text] of lines) print(`${label.padEnd(LABEL_WIDTH)} ${text}`)
}

const MB = 1_000_000
export const mbText = (bytes: number): string => `${Number((bytes / MB).toFixed(1))} MB`
export const tell = (text: string): void => void process.stderr.write(`${text}\n`)

/** Names long work, where a person waits for it: on a terminal. */
export const tellWork = (text: string): void => {
  if (process.stderr.isTTY) tell(`${text} …`)
}

/** A step of long work: where somebody waits for it, or a line of progress with --json. */
export const tellStep = ({ json = false }: { readonly json?: boolean }, what: string): void =>
  json ? tell(JSON.stringify({ progress: { what } })) : tellWork(what)

const paint = (code: number) => (text: string) =>
  environment().colours ? `\u001b[${code}m${text}\u001b[0m` : text
export const green = paint(32)
export const red = paint(31)
export const dim = paint(2)

/** Columns as wide as their widest cell; two spaces between. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const shown = rows.map((row) => row.map(visible))
  const widths = head.map((title, column) =>
    Math.max(title.length, ...shown.map((row) => (row[column] ?? '').length)),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return [dim(line(head)), ...shown.map(line)].join('\n')
}

/** Control and format characters as escapes: what others named must not move the cursor of this terminal. */
const visible = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`)

/** For --json: a line on stderr, `{"progress":{…}}`, each time that the figures differ from those before. */
function createProgressLines(): ProgressBar {
  const printedFigures = new Map<string, string>()
  return {
    show(what, doneBytes, totalBytes) {
      const figures = `${doneBytes}/${totalBytes}`
      if (printedFigures.get(what) === figures) return
      printedFigures.set(what, figures)
      const progress = { what, done_bytes: doneBytes, total_bytes: totalBytes ?? null }
      tell(JSON.stringify({ progress }))
    },
    erase: () => undefined,
  }
}

/**
 * Does some work with a progress bar, which is erased when the work has ended, however it ends. With `json`, each
 * progress is a JSON line on stderr instead.
 */
export async function withProgressBar<T>(
  work: (bar: ProgressBar) => Promise<T>,
  { json = false }: { readonly json?: boolean } = {},
): Promise<T> {
  const bar = json ? createProgressLines() : createProgressBar(process.stderr)
  try {
    return await work(bar)
  } finally {
    bar.erase()
  }
}

const HOME = '\u001b[H'
const ERASE_TO_LINE_END = '\u001b[K'
const ERASE_BELOW = '\u001b[J'
// Also without a cursor, and lines that are too long are cut.
const OTHER_SCREEN = '\u001b[?1049h\u001b[?25l\u001b[?7l'
const FIRST_SCREEN = '\u001b[?7h\u001b[?25h\u001b[?1049l'

/**
 * A page that is printed again and again. On a terminal each page takes the place of the one before, on a
 * screen of its own; `close` gives the first screen back and leaves the last page there.
 */
export function openPages(): { show(page: string): void; close(): void } {
  const { stdout } = process
  if (!stdout.isTTY) return { show: print, close: () => undefined }
  let last: string | undefined
  stdout.write(OTHER_SCREEN)
  return {
    show(page) {
      last = page
      // Written over, not cleared first: a cleared screen flickers. More lines than there are would scroll.
      const lines = page.split('\n').slice(0, (stdout.rows ?? 24) - 1)
      const text = lines.map((line) => `${line}${ERASE_TO_LINE_END}\n`).join('')
      stdout.write(`${HOME}${text}${ERASE_BELOW}`)
    },
    close() {
      stdout.write(FIRST_SCREEN)
      if (last !== undefined) print(last)
    },
  }
}
