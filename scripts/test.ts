// npm test, after the checks: every test beside the code or the scripts, then the whole product (test/) and what its
// clients see of it (acceptance/). Arguments choose files instead.
import { globSync } from 'node:fs'
import { relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { run } from 'node:test'
import { dot } from 'node:test/reporters'
import { report } from './test-reporter.ts'

const ALL = [
  'scripts/**/*.test.ts',
  'src/**/*.test.ts',
  'test/**/*.test.ts',
  'acceptance/**/*.test.ts',
]
/** These go first, so that none of them is left over at the end with one core idle. */
const LONGEST = [
  'test/storage.test.ts',
  'test/one-product.test.ts',
  'test/start-faults.test.ts',
  'test/start-stop.test.ts',
  'test/storage-move.test.ts',
  'test/kill-loop.test.ts',
  'test/live-conservation.test.ts',
  'test/second-product.test.ts',
  'acceptance/clients.test.ts',
  'test/sim/sim.test.ts',
]
// Each file is a process. Those of the product also wait (one-product 34 s by its own timers), so three.
const CONCURRENCY = 3
const TEST_TIMEOUT_MS = 600_000

const chosen = process.argv.slice(2)
const files = globSync(chosen.length > 0 ? chosen : ALL).toSorted()
if (files.length === 0) throw new TypeError(`There is no test ${chosen.join(', ')}`)
const longest = LONGEST.filter((file) => files.includes(file))
const missing = LONGEST.filter((file) => !longest.includes(file))
if (chosen.length === 0 && missing.length > 0)
  throw new TypeError(`There is no test ${missing.join(', ')}: mend LONGEST`)

const first = await runFiles(
  [...longest, ...files.filter((file) => !longest.includes(file))],
  CONCURRENCY,
)
// A file that fails beside others and passes alone is a defect too, and is named as one; what fails twice
// stops a change.
const second = first.size > 0 ? await runFiles([...first], 1) : first
for (const file of first)
  if (!second.has(file)) console.log(`UNSTABLE: ${file} failed beside others, and passed alone`)
process.exitCode = second.size > 0 ? 1 : 0

/** The files that did not say at their end that all went well, or that failed after it. */
async function runFiles(paths: readonly string[], concurrency: number): Promise<Set<string>> {
  const failed = new Set(paths)
  const events = run({
    files: [...paths],
    concurrency,
    timeout: TEST_TIMEOUT_MS,
    // A test that fails may leave something running: without this its file, and the run, would never end,
    // and a test that hangs would not be told apart from one that is slow.
    forceExit: true,
  })
  // Where a test failed is no help: a test can be written in another file than the one that runs it.
  events.on('test:summary', ({ file, success }) => {
    if (success) failed.delete(relative('.', file ?? ''))
  })
  // The process of a file that ended badly after its tests; this comes after its summary.
  events.on('test:fail', ({ file }) => {
    const path = relative('.', file ?? '')
    if (paths.includes(path)) failed.add(path)
  })
  await Promise.all([
    pipeline(events.compose(dot), process.stderr, { end: false }),
    pipeline(events.compose(report), process.stdout, { end: false }),
  ])
  return failed
}
