// npm test, after the checks: every test beside the code or the scripts, then the whole product (test/) and what its
// clients see of it (acceptance/). Arguments choose files instead.
import { globSync } from 'node:fs'
import { relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { run } from 'node:test'
import { dot } from 'node:test/reporters'
import { report } from './test-reporter.ts'
import { dealShares, fileEventOf } from './test-shares.ts'

const ALL = [
  'scripts/**/*.test.ts',
  'src/**/*.test.ts',
  'test/**/*.test.ts',
  'acceptance/**/*.test.ts',
]
/** The shares and these go first, so that none is left over at the end with one core idle. */
const LONGEST = [
  'test/storage.test.ts',
  'test/storage-move.test.ts',
  'test/one-product.test.ts',
  'acceptance/clients.test.ts',
  'test/one-model.test.ts',
  'test/start-faults.test.ts',
  'test/start-stop.test.ts',
  'test/sim/sim.test.ts',
]
/** These are small: they share processes, each file as a suite of its own. */
const isSmall = (file: string) => /^(scripts|src)\//.test(file)
const SHARES = 2
// All wait for timers and other processes of their own: with one more than cores 84 % of two were used.
const CONCURRENCY = 4
const TEST_TIMEOUT_MS = 600_000

const chosen = process.argv.slice(2)
const files = globSync(chosen.length > 0 ? chosen : ALL).toSorted()
if (files.length === 0) throw new TypeError(`There is no test ${chosen.join(', ')}`)
const longest = LONGEST.filter((file) => files.includes(file))
const missing = LONGEST.filter((file) => !longest.includes(file))
if (chosen.length === 0 && missing.length > 0)
  throw new TypeError(`There is no test ${missing.join(', ')}: mend LONGEST`)

const small = files.filter(isSmall)
const shares = dealShares(small.length > 1 ? small : [], SHARES)
const alone = files.filter(
  (file) => !longest.includes(file) && !(small.length > 1 && isSmall(file)),
)
const first = await runPrograms([...shares.keys(), ...longest, ...alone], CONCURRENCY)

// A file that fails beside others and passes alone is a defect too, and is named as one; what fails twice
// stops a change.
const again = [...first.failed, ...first.unreached]
if (first.unreached.size > 0)
  console.log(`A process ended before the turn of ${first.unreached.size} files: each runs alone`)
const second = again.length > 0 ? await runPrograms(again, 1) : first
for (const file of first.failed)
  if (!second.failed.has(file))
    console.log(`UNSTABLE: ${file} failed beside others, and passed alone`)
process.exitCode = second.failed.size > 0 ? 1 : 0

type Outcome = {
  /** The files that did not say at their end that all went well, or that failed after it. */
  readonly failed: Set<string>
  /** Files of a share whose process ended before their turn. */
  readonly unreached: Set<string>
}

async function runPrograms(programs: readonly string[], concurrency: number): Promise<Outcome> {
  const failed = new Set(programs)
  const told = new Map<string, boolean>()
  const events = run({
    files: [...programs],
    concurrency,
    timeout: TEST_TIMEOUT_MS,
    // A test that fails may leave something running: without this its file, and the run, would never end,
    // and a test that hangs would not be told apart from one that is slow.
    forceExit: true,
  })
  events.on('data', (event) => {
    const ended = fileEventOf(event)
    if (ended !== undefined) told.set(ended.file, ended.isPassed)
  })
  // Where a test failed is no help: a test can be written in another file than the one that runs it.
  events.on('test:summary', ({ file, success }) => {
    if (success) failed.delete(relative('.', file ?? ''))
  })
  // The process of a file that ended badly after its tests; this comes after its summary.
  events.on('test:fail', ({ file }) => {
    const path = relative('.', file ?? '')
    if (programs.includes(path)) failed.add(path)
  })
  await Promise.all([
    pipeline(events.compose(dot), process.stderr, { end: false }),
    pipeline(events.compose(report), process.stdout, { end: false }),
  ])
  return outcomeOf(failed, told)
}

/** Blames files for the programs that failed; `told` says of files in a share whether they passed. */
function outcomeOf(programs: ReadonlySet<string>, told: ReadonlyMap<string, boolean>): Outcome {
  const failed = new Set<string>()
  const unreached = new Set<string>()
  for (const program of programs) {
    const files = shares.get(program) ?? [program]
    // They run in order: the first that said nothing was running when the process ended, or just before.
    const [last, ...rest] = files.filter((file) => !told.has(file))
    const own = files.filter((file) => told.get(file) === false || file === last)
    // What ended badly after all had passed may be of any of them.
    for (const file of own.length > 0 ? own : files) failed.add(file)
    for (const file of rest) unreached.add(file)
  }
  return { failed, unreached }
}
