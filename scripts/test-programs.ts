// Which test files share a process: Node's start and the imports cost 0.6 s of CPU for each process, and the start of a
// product 4 to 5 s.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readDurations, type Costs } from './test-costs.ts'

const RUNNER = join(import.meta.dirname, 'test-files.ts')
/** Of this run: two runs in one tree do not meet. */
const FOLDER = join('.cache', 'test-programs', String(process.pid))
/** Tests of one part of the code, without a product. */
export const SMALL = /^(scripts|src|portal)\//
const SMALL_PROGRAMS_MIN = 2
/** Small files are in more programs where these would take longer: each imports most of the tree, and has a PostgreSQL. */
const SMALL_MS_MAX = 250_000
/** Small files without a recorded duration: 399 of them, 1.66 MB, took 159 s of CPU on a busy machine. */
const SMALL_BYTES_PER_MS = 10
/**
 * Files of equal settings that take longer have several products: a start takes 3 s of CPU, a fiftieth of this. In one
 * process they would run on alone for minutes after all others.
 */
const GROUP_MS_MAX = 150_000
/** The call by which a test file asks for a shared product: its settings by name. */
const PRODUCT = /^product\((\w+).*/m

export type Plan = {
  /** The costs of files when they last ran. */
  readonly costs: Costs
  /** Shuffles files and processes; undefined for the longest process first. */
  readonly random: (() => number) | undefined
  /** True where each file has a process of its own. */
  readonly isAlone: boolean
}

/** Assigns test files to programs and writes these; resolves to each program's path and its files, in order. */
export function planPrograms(files: readonly string[], plan: Plan): Map<string, string[]> {
  const recorded = readDurations()
  /** The last duration of a file; of one that never ran here the recorded duration, or what its size suggests. */
  const expectedMs = (file: string): number =>
    plan.costs[file]?.ms ??
    recorded[file] ??
    statSync(file).size / (SMALL.test(file) ? SMALL_BYTES_PER_MS : 1)
  const groups = plan.isAlone ? files.map((file) => [file]) : groupsOf(files, expectedMs)
  const msOf = (group: readonly string[]) => group.reduce((sum, file) => sum + expectedMs(file), 0)
  const ordered =
    plan.random === undefined
      ? groups.toSorted((one, other) => msOf(other) - msOf(one))
      : shuffled(groups, plan.random).map((group) => shuffled(group, plan.random))
  removePrograms()
  mkdirSync(FOLDER, { recursive: true })
  return new Map(
    ordered.map((group, nth) => {
      const program = join(FOLDER, `${nth + 1}.ts`)
      const call = `runFiles(${JSON.stringify(group)}, '${costsFileOf(program)}')`
      writeFileSync(program, `import { runFiles } from '${RUNNER}'\n${call}\n`)
      return [program, group]
    }),
  )
}

export const removePrograms = (): void => rmSync(FOLDER, { recursive: true, force: true })

/** Where a program writes what its files cost. */
export const costsFileOf = (program: string): string => program.replace(/ts$/, 'json')

/** Small files in few groups of equal length, files of equal settings in groups, each other file by itself. */
function groupsOf(files: readonly string[], expectedMs: (file: string) => number): string[][] {
  const longestFirst = files
    .filter((file) => SMALL.test(file))
    .map((file) => ({ file, ms: expectedMs(file) }))
    .toSorted((one, other) => other.ms - one.ms)
  const allMs = longestFirst.reduce((sum, { ms }) => sum + ms, 0)
  const programs = Math.max(SMALL_PROGRAMS_MIN, Math.ceil(allMs / SMALL_MS_MAX))
  const small: string[][] = Array.from({ length: programs }, () => [])
  const sums = small.map(() => 0)
  for (const { file, ms } of longestFirst) {
    const least = sums.indexOf(Math.min(...sums))
    sums[least] = (sums[least] ?? 0) + ms
    small[least]?.push(file)
  }
  const others = files
    .filter((file) => !SMALL.test(file))
    .map((file) => ({ file, product: PRODUCT.exec(readFileSync(file, 'utf8')) }))
    // Equal calls follow each other, so that a product is restarted least.
    .toSorted((one, other) => compare(one.product?.[0], other.product?.[0]))
  const rest = Object.values(
    Object.groupBy(others, ({ file, product }) => product?.[1] ?? file),
  ).flatMap((group = []) => {
    const all = group.map(({ file }) => file)
    return cut(all, expectedMs)
  })
  return [...small, ...rest].filter((group) => group.length > 0)
}

/** Files in their order, in as few groups as are not too long; a file that is too long by itself is one. */
function cut(files: readonly string[], expectedMs: (file: string) => number): string[][] {
  const groups: string[][] = [[]]
  let sumMs = 0
  for (const file of files) {
    const ms = expectedMs(file)
    if (sumMs > 0 && sumMs + ms > GROUP_MS_MAX) {
      groups.push([])
      sumMs = 0
    }
    groups.at(-1)?.push(file)
    sumMs += ms
  }
  return groups
}

const compare = (one = '', other = ''): number => (one < other ? -1 : one > other ? 1 : 0)

function shuffled<T>(list: readonly T[], random: (() => number) | undefined): T[] {
  return list
    .map((item) => ({ item, key: random?.() ?? 0 }))
    .toSorted((one, other) => one.key - other.key)
    .map(({ item }) => item)
}
