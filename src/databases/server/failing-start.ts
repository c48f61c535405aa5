// A server that does not start: when that is said of it, and why, in words for its account and for the operator.
import { messageOf, type ErgonError } from '#base/errors.ts'
import type { EndedLife, Exit } from '#cells/cell.ts'
import { fault } from '#contract/errors.ts'

/** Lives in a row that ended before they answered. */
const LIVES_MAX = 3
/** A start that hangs; shorter than clients wait for one. A recovery that goes on has this time for each step. */
export const SILENT_MS = 55_000
const WORDS_MAX = 300
const SILENT = `it does not answer within ${SILENT_MS / 1000} s`
const FULL = 'the disk of the service is full'
const NO_POSTGRES = 'the service has no PostgreSQL that it can run'

/** Why a server does not start. `words` are for its account, `log` is for the operator alone. */
export class StartFailure extends Error {
  readonly words: string
  readonly log: string

  constructor(words: string, log: string, cause?: unknown) {
    super(`A server does not start: ${log}`, { cause })
    this.words = words
    this.log = log
  }

  /** For the account. */
  toFault(name: string): ErgonError {
    const message = `Could not start the server of "${name}": ${this.words}`
    return fault('database_not_ready', message, { cause: this })
  }
}

/** Why a server did not start, where the service can mend that and the account cannot. */
export const isFaultOfService = (error: unknown): boolean =>
  error instanceof Error &&
  error.cause instanceof StartFailure &&
  [FULL, NO_POSTGRES].includes(error.cause.words)

export interface StartWatch {
  /** For the cell: counts lives that end without an answer. A silent one is a failure by itself. */
  ended(exit: Exit, life: EndedLife): void
  /** Rejects with a StartFailure. */
  readonly failed: Promise<never>
}

/** Watches the lives of a server. `folder` is that of its cluster. */
export function watchStart(folder: string): StartWatch {
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => undefined)
  let lives = 0
  return {
    failed: failed.promise,
    ended(exit, { hasAnswered, lastLines }) {
      lives = hasAnswered ? 0 : lives + 1
      if (exit.silent === true) failed.reject(new StartFailure(SILENT, SILENT))
      else if (lives >= LIVES_MAX) failed.reject(failureOf(exit, lastLines, folder))
    },
  }
}

/** The failure behind an error before the server could begin; undefined for another one, and where the work was stopped. */
export function failureBefore(error: unknown): StartFailure | undefined {
  const code = codeOf(error)
  if (code === 'storage_full' || code === 'ENOSPC' || code === '53100')
    return new StartFailure(FULL, messageOf(error), error)
  if (code === 'artifact_interrupted') return undefined
  if (code.startsWith('postgres_') || code.startsWith('artifact_'))
    return new StartFailure(NO_POSTGRES, messageOf(error), error)
  return error instanceof StartFailure ? error : undefined
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** The codes of a shell that cannot start a program. */
const UNFOUND: ReadonlySet<number> = new Set([126, 127])
/** The message of PostgreSQL is behind the time, the process and the role. Statements of customers are on other lines. */
const SEVERE = /\b(?:FATAL|PANIC): +(.*)$/
/** The words of PostgreSQL for a client that comes too early. */
const EARLY = /^the database system is /

function failureOf(exit: Exit, lines: readonly string[], folder: string): StartFailure {
  const severe = lines.flatMap((line) => SEVERE.exec(line)?.[1] ?? [])
  const said = severe.filter((words) => !EARLY.test(words))
  // A tool before the server, such as sh, says why without such a word.
  const last = said.at(-1) ?? (severe.length === 0 ? lines.at(-1) : undefined)
  const how = exit.outOfMemory === true ? 'it takes more memory than it may have' : endOf(exit)
  const log = last === undefined ? how : `${last} (${how})`
  return new StartFailure(wordsOf(last, how, { code: exit.code, folder }), log)
}

const endOf = ({ code, signal }: Exit): string =>
  signal === null ? `it ended with code ${code}` : `it ended by ${signal}`

/** The words of the failure without the paths of the node. */
function wordsOf(
  last: string | undefined,
  how: string,
  { code, folder }: Pick<Exit, 'code'> & { readonly folder: string },
): string {
  if (last === undefined) return how
  if (UNFOUND.has(code ?? 0)) return NO_POSTGRES
  if (last.includes('No space left on device')) return FULL
  return last
    .replace(/^but /, '')
    .replaceAll(`${folder}/data/`, '')
    .replaceAll(/(?<![\w.])\/[^\s":,]+/g, '…')
    .slice(0, WORDS_MAX)
}
