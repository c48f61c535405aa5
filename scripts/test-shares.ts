// Small test files that share a process: Node's start and the loading of what they test cost 0.6 s of CPU for
// each file alone. In a share every file is a suite of its own, so its hooks are its own, and so is its end.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve as absolute } from 'node:path'
import { after, describe } from 'node:test'
import type { TestEvent } from 'node:test/reporters'
import { keepTestServer } from '#postgres/testing-url.ts'

const FOLDER = join('.cache', 'test-shares')
/** A file that hangs fails then, and the next one runs. The longest takes 20 s on a quiet machine. */
const FILE_TIMEOUT_MS = 240_000

/** How a file of a share has ended. */
export type FileEvent = {
  readonly file: string
  readonly isPassed: boolean
  readonly tookMs: number
}

/** Deals the files to so many programs, and writes these: path of the program → its files. */
export function dealShares(files: readonly string[], count: number): Map<string, string[]> {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  const shares = new Map<string, string[]>()
  for (let nth = 0; nth < Math.min(count, files.length); nth++) {
    const program = join(FOLDER, `share-${nth + 1}.ts`)
    const own = files.filter((_, index) => index % count === nth)
    const text = `import { runShare } from '${import.meta.filename}'\nrunShare(${JSON.stringify(own)})\n`
    writeFileSync(program, text)
    shares.set(program, own)
  }
  return shares
}

/** In the process of a share: declares each file as a suite with the file's path as its name. */
export function runShare(files: readonly string[]): void {
  const server = keepTestServer()
  describe('share', async () => {
    after(() => server[Symbol.asyncDispose]())
    for (const file of files) {
      // One after the other: the tests of two that wait for one module would all become the first one's.
      const { promise, resolve } = Promise.withResolvers<void>()
      describe(file, { timeout: FILE_TIMEOUT_MS }, async () => {
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

/** Whether an event is of a share or of a file in it, and of no test. */
export const isOfShare = ({ data }: TestEvent): boolean =>
  data !== undefined && 'file' in data && data.file === import.meta.filename

/** What an event says of a file in a share; undefined for every other event. */
export function fileEventOf(event: TestEvent): FileEvent | undefined {
  const { type, data } = event
  if (!isOfShare(event)) return undefined
  if ((type !== 'test:pass' && type !== 'test:fail') || data.nesting !== 1) return undefined
  return { file: data.name, isPassed: type === 'test:pass', tookMs: data.details.duration_ms }
}
