// A process of a test run: each of its files is a suite, with hooks of its own, and named by its path.
import { writeFileSync } from 'node:fs'
import { resolve as absolute } from 'node:path'
import { after, before, describe } from 'node:test'
import type { TestEvent } from 'node:test/reporters'
import { createStopwatch } from './test-costs.ts'
import { SMALL } from './test-programs.ts'

/** A file that hangs fails after this time, and the next file runs. Long forms take up to 40 minutes. */
const FILE_TIMEOUT_MS = process.env['ERGON_LONG'] === '1' ? 3_600_000 : 600_000

/**
 * A test may leave something running, which must not keep its process alive: a kept connection, or what a failure did
 * not close. Node's own --test-force-exit lost the last results of quick programs: 20 of 65, by runs on an idle machine.
 */
const LEFT_RUNNING_MS = 2000
/** The result of the whole program is sent within this time. */
const LAST_RESULT_MS = 1000

/** The end of a file. */
export type FileEvent = {
  readonly file: string
  readonly isPassed: boolean
  readonly tookMs: number
}

/** Declares the files' tests, and writes to `costsFile` how many milliseconds of CPU each file took. */
export function runFiles(files: readonly string[], costsFile: string): void {
  const watch = createStopwatch()
  describe('files', async () => {
    const kept = await keepShared(files)
    after(() => kept?.[Symbol.asyncDispose]())
    after(() => writeFileSync(costsFile, JSON.stringify(watch.stop())))
    // Last: the end of what the files share takes its time.
    after(() => void setTimeout(endProgram, LEFT_RUNNING_MS).unref())
    for (const file of files) {
      // One after the other: the tests of two files that wait for one module would all become the first file's.
      const { promise, resolve } = Promise.withResolvers<void>()
      describe(file, { timeout: FILE_TIMEOUT_MS }, async () => {
        before(() => watch.enter(file))
        try {
          await import(absolute(file))
        } finally {
          resolve()
        }
      })
      await promise
    }
  })
}

/** Ends as a process with nothing left to run does: at that event node:test sends the result of the program. */
function endProgram(): void {
  process.emit('beforeExit', 0)
  setTimeout(() => process.exit(), LAST_RESULT_MS)
}

/** Keeps what the files of one process share: a PostgreSQL of small tests, or products. */
async function keepShared(files: readonly string[]): Promise<AsyncDisposable | undefined> {
  if (files.every((file) => SMALL.test(file)))
    return files.length === 1
      ? undefined
      : (await import('#postgres/testing-url.ts')).keepTestServer()
  return (await import('../test/product.ts')).keepProducts()
}

/** True for an event of a program or of a file in it, false for an event of a test. */
export const isOfProgram = ({ data }: TestEvent): boolean =>
  data !== undefined && 'file' in data && data.file === import.meta.filename

/** The end of a file in a program that the event tells; undefined for every other event. */
export function fileEventOf(event: TestEvent): FileEvent | undefined {
  const { type, data } = event
  if (!isOfProgram(event)) return undefined
  if ((type !== 'test:pass' && type !== 'test:fail') || data.nesting !== 1) return undefined
  return { file: data.name, isPassed: type === 'test:pass', tookMs: data.details.duration_ms }
}
