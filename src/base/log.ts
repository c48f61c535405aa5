// Logs are JSON lines on stderr: a sentence and fields. Secrets are kept out by type, not by care:
// a Secret has no text but its reveal(), and prints as *** wherever it is logged or serialised.
import { writeSync } from 'node:fs'
import { inspect } from 'node:util'
import { tokenMask } from './mask-tokens.ts'

/** A value that never prints itself. */
export class Secret {
  readonly #value: string
  constructor(value: string) {
    this.#value = value
  }
  reveal(): string {
    return this.#value
  }
  toString(): string {
    return '***'
  }
  toJSON(): string {
    return '***'
  }
  [inspect.custom](): string {
    return '***'
  }
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type LogFields = Readonly<Record<string, unknown>>
export type Logger = Record<LogLevel, (message: string, fields?: LogFields) => void>

const ORDER: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 }
const FIELD_LENGTH_MAX = 2000
/** Also what was cut. */
const withoutTokens = tokenMask(8)

/** A logger of one subsystem. Lines go to stderr in one write each, so that processes do not mix. */
export function createLogger(
  subsystem: string,
  options: { level?: LogLevel; write?: (line: string) => void } = {},
): Logger {
  const least = ORDER[options.level ?? 'info']
  const write = options.write ?? writeStderr
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (ORDER[level] < least) return
      const line = { time: new Date().toISOString(), level, subsystem, message, ...fields }
      write(`${withoutTokens(JSON.stringify(line, loggable))}\n`)
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

function loggable(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Error)
    return { name: value.name, message: value.message, stack: value.stack }
  if (typeof value === 'string' && value.length > FIELD_LENGTH_MAX)
    return `${value.slice(0, FIELD_LENGTH_MAX)}…`
  return value
}

/** One write of a line that ends with its line break. */
export function writeStderr(line: string): void {
  try {
    writeSync(2, line)
  } catch {
    // A full or closed stderr must not stop the product; there is nowhere left to say so.
  }
}
