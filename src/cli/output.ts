// The voice of the command line: data on stdout, talk on stderr; --json prints one JSON value; colours
// and progress bars only on a terminal.
import { environment } from './environment.ts'

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  login: 4,
  payment: 5,
  receipt: 6,
} as const

/** Ends a command with a message, a next step and an exit code. */
export class CommandError extends Error {
  readonly exitCode: number
  readonly next: string | undefined
  constructor(message: string, exitCode: number = EXIT.failed, next?: string) {
    super(message)
    this.exitCode = exitCode
    this.next = next
  }
}

export const print = (text: string): void => void process.stdout.write(`${text}\n`)
export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2))
export const tell = (text: string): void => void process.stderr.write(`${text}\n`)

const paint = (code: number) => (text: string) =>
  environment().colours ? `\u001b[${code}m${text}\u001b[0m` : text
export const green = paint(32)
export const red = paint(31)
export const dim = paint(2)

/** Columns as wide as their widest cell; two spaces between. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return [dim(line(head)), ...rows.map(line)].join('\n')
}

const BAR_CELLS = 24

/** Draws one bar over itself, on a terminal. */
export function progress(what: string, done: number, total: number): void {
  if (!process.stderr.isTTY) return
  const full = Math.round((total === 0 ? 1 : Math.min(1, done / total)) * BAR_CELLS)
  const bar = '█'.repeat(full).padEnd(BAR_CELLS)
  process.stderr.write(
    `\r${what} [${bar}] ${(done / 1_048_576).toFixed(0)}/${(total / 1_048_576).toFixed(0)} MiB${done >= total ? '\n' : ''}`,
  )
}
