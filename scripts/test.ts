// npm test, after the checks: every test beside the code or the scripts, then the whole product (test/) and what its
// clients see of it (acceptance/). Arguments choose files instead.
import { globSync } from 'node:fs'
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
  'test/start-faults.test.ts',
  'test/one-product.test.ts',
  'test/start-stop.test.ts',
  'test/storage-move.test.ts',
  'test/live-conservation.test.ts',
  'test/kill-loop.test.ts',
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

const events = run({
  files: [...longest, ...files.filter((file) => !longest.includes(file))],
  concurrency: CONCURRENCY,
  timeout: TEST_TIMEOUT_MS,
  // A test that fails may leave something running: without this its file, and the run, would never end,
  // and a test that hangs would not be told apart from one that is slow.
  forceExit: true,
})
events.on('test:fail', () => (process.exitCode = 1))
events.compose(dot).pipe(process.stderr)
events.compose(report).pipe(process.stdout)
