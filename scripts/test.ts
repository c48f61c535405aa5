// npm test, after the checks: every test file of the tree, or those that the arguments name. Options:
//   --shuffle SEED  runs files and processes in a random order: an integer
//   --alone         runs each file in a process of its own
//   --at-once N     runs N processes at once: 4
//   --record        keeps the durations for fresh clones, in scripts/test-durations.json
//   --on-disk       keeps the files of the tests on the disk, as long forms do; else they are in memory where there is room
import { existsSync, globSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { run } from 'node:test'
import { dot } from 'node:test/reporters'
import { parseArgs } from 'node:util'
import {
  coresMs,
  costsReport,
  keepCosts,
  readCosts,
  recordDurations,
  type Cost,
} from './test-costs.ts'
import { fileEventOf } from './test-files.ts'
import { moveIntoMemory } from './test-memory.ts'
import { costsFileOf, planPrograms, removePrograms } from './test-programs.ts'
import { report } from './test-reporter.ts'

const ALL = ['scripts', 'src', 'portal/src', 'bench', 'test'].map(
  (folder) => `${folder}/**/*.test.ts`,
)
// Tests wait for timers and other processes: four at once use two thirds of two cores, and more miss their times beside
// other work.
const AT_ONCE = '4'
// A program of small files takes 230 s, and five times as long beside other work; the long forms take most of an hour.
const PROGRAM_TIMEOUT_MS = process.env['ERGON_LONG'] === '1' ? 3_600_000 : 1_800_000

const { values, positionals: chosen } = parseArgs({
  options: {
    shuffle: { type: 'string' },
    alone: { type: 'boolean', default: false },
    'at-once': { type: 'string', default: AT_ONCE },
    record: { type: 'boolean', default: false },
    'on-disk': { type: 'boolean', default: process.env['ERGON_LONG'] === '1' },
  },
  allowPositionals: true,
})
if (!values['on-disk']) moveIntoMemory()
const files = globSync(chosen.length > 0 ? chosen : ALL).toSorted()
if (files.length === 0) throw new TypeError(`There is no test ${chosen.join(', ')}`)
const atOnce = Number(values['at-once'])
if (!Number.isSafeInteger(atOnce) || atOnce < 1)
  throw new TypeError(`--at-once must be an integer from 1: ${values['at-once']}`)
const random = values.shuffle === undefined ? undefined : randomOf(values.shuffle)
const startMs = performance.now()
const startCores = coresMs()
const costs: Record<string, Cost> = {}
let startsCpuMs = 0

const first = await runFiles(files, atOnce, values.alone)
// A file that fails beside others and passes alone is a defect too, and is named. A file that fails twice fails the run.
if (first.unreached.size > 0)
  console.log(`A process ended before the turn of ${first.unreached.size} files: each runs alone`)
const again = [...first.failed, ...first.unreached]
const second = again.length > 0 ? await runFiles(again, 1, true) : first
for (const file of first.failed)
  if (!second.failed.has(file))
    console.log(`UNSTABLE: ${file} failed beside others, and passed alone`)
for (const file of second.failed) console.log(`FAILED: ${file}, alone too`)
removePrograms()
keepCosts(costs)
if (values.record) recordDurations(costs)
console.log(costsReport(costs, startsCpuMs, performance.now() - startMs, startCores))
process.exitCode = second.failed.size > 0 ? 1 : 0

type Outcome = {
  /** Files with a failed test, or whose process failed. */
  readonly failed: Set<string>
  /** Files whose process ended before their turn. */
  readonly unreached: Set<string>
}

async function runFiles(
  chosenFiles: readonly string[],
  concurrency: number,
  isAlone: boolean,
): Promise<Outcome> {
  const programs = planPrograms(chosenFiles, { costs: readCosts(), random, isAlone })
  const failed = new Set(programs.keys())
  const ended = new Map<string, boolean>()
  const events = run({
    files: [...programs.keys()],
    concurrency,
    timeout: PROGRAM_TIMEOUT_MS,
  })
  events.on('data', (event) => {
    const fileEvent = fileEventOf(event)
    if (fileEvent === undefined) return
    ended.set(fileEvent.file, fileEvent.isPassed)
    costs[fileEvent.file] = { ms: Math.round(fileEvent.tookMs), cpuMs: 0 }
  })
  // The file of a failed test says little: a test can be written in another file than the one that runs.
  events.on('test:summary', ({ file, success }) => {
    if (success) failed.delete(relative('.', file ?? ''))
  })
  // A process that failed after its tests; this comes after its summary.
  events.on('test:fail', ({ file }) => {
    const path = relative('.', file ?? '')
    if (programs.has(path)) failed.add(path)
  })
  await Promise.all([
    pipeline(events.compose(dot), process.stderr, { end: false }),
    pipeline(events.compose(report), process.stdout, { end: false }),
  ])
  for (const program of programs.keys()) addCpu(program)
  return outcomeOf(programs, failed, ended)
}

/** Adds the CPU time that a program measured; a program that was killed measured none. */
function addCpu(program: string): void {
  if (!existsSync(costsFileOf(program))) return
  const cpuMs = JSON.parse(readFileSync(costsFileOf(program), 'utf8')) as Record<string, number>
  startsCpuMs += cpuMs[''] ?? 0
  for (const file of Object.keys(cpuMs)) {
    const cost = costs[file]
    if (cost !== undefined) costs[file] = { ...cost, cpuMs: cpuMs[file] ?? 0 }
  }
}

/** Blames files for the programs that failed; `ended` has the files that ended, and whether they passed. */
function outcomeOf(
  programs: ReadonlyMap<string, readonly string[]>,
  failedPrograms: ReadonlySet<string>,
  ended: ReadonlyMap<string, boolean>,
): Outcome {
  const failed = new Set<string>()
  const unreached = new Set<string>()
  for (const program of failedPrograms) {
    const own = programs.get(program) ?? []
    // They run in order: the first file that did not end was running when the process ended, or just before.
    const [last, ...rest] = own.filter((file) => !ended.has(file))
    const bad = own.filter((file) => ended.get(file) === false || file === last)
    // A failure after all files had passed may be of any of them.
    for (const file of bad.length > 0 ? bad : own) failed.add(file)
    for (const file of rest) unreached.add(file)
  }
  return { failed, unreached }
}

/** Uniform numbers below 1 that a seed determines. Source: mulberry32, public domain. */
function randomOf(text: string): () => number {
  let seed = Number(text)
  if (!Number.isSafeInteger(seed)) throw new TypeError(`--shuffle must be an integer: ${text}`)
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
