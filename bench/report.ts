// Results of the benches, kept as JSON and printed as tables. Each section names its commit and its machine, so that a
// run of one bench leaves the others as they were.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'

/** A figure that the product promises: at least `least`, or at most `most`. */
export type Bar = {
  readonly what: string
  readonly value: number
  readonly least?: number
  readonly most?: number
  readonly digits?: number
  readonly unit?: string
}
export type Table = {
  readonly caption: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}
export type Section = {
  readonly name: string
  readonly title: string
  readonly bars: readonly Bar[]
  readonly tables: readonly Table[]
  readonly notes: readonly string[]
}

type Facts = {
  readonly at: string
  readonly commit: string
  readonly cpu: string
  readonly cores: number
  readonly memoryGib: number
  readonly kernel: string
  readonly node: string
  readonly loadBefore: number
  readonly loadAfter: number
}
type Stored = Section & { readonly facts: Facts }

const RESULTS = fileURLToPath(new URL('./results.json', import.meta.url))
const PAGE = fileURLToPath(new URL('./RESULTS.md', import.meta.url))

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** Runs a bench, prints what it found and keeps it. True when every bar is met, or it cannot run here. */
export async function record(bench: () => Promise<Section | undefined>): Promise<boolean> {
  const stored = await print(bench)
  if (stored === undefined) return true
  const others = read().filter(({ name }) => name !== stored.name)
  const all = [...others, stored].toSorted((a, b) => (a.name < b.name ? -1 : 1))
  writeFileSync(RESULTS, `${JSON.stringify(all, undefined, 2)}\n`)
  writeFileSync(PAGE, pageOf(all))
  return stored.bars.every(isMet)
}

/** Runs a bench and prints what it found; undefined when it cannot run here. */
export async function print(
  bench: () => Promise<Section | undefined>,
): Promise<Stored | undefined> {
  const loadBefore = loadavg()[0] ?? 0
  const section = await bench()
  if (section === undefined) return undefined
  const stored: Stored = { ...section, facts: factsOf(loadBefore) }
  process.stdout.write(`${textOf(stored)}\n`)
  return stored
}

const read = (): Stored[] =>
  existsSync(RESULTS) ? (JSON.parse(readFileSync(RESULTS, 'utf8')) as Stored[]) : []

function factsOf(loadBefore: number): Facts {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
  const isChanged = git('status', '--porcelain', '--', 'src') !== ''
  return {
    at: new Date().toISOString(),
    commit: git('rev-parse', '--short=12', 'HEAD') + (isChanged ? ' with changes' : ''),
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    loadBefore: round(loadBefore),
    loadAfter: round(loadavg()[0] ?? 0),
  }
}

const round = (value: number) => Math.round(value * 100) / 100

const isMet = ({ value, least, most }: Bar): boolean =>
  (least === undefined || value >= least) && (most === undefined || value <= most)

const barRow = (bar: Bar): string[] => {
  const { what, value, least, most, digits = 0, unit = '' } = bar
  const asked = least === undefined ? `≤ ${most}` : `≥ ${least}`
  return [what, `${value.toFixed(digits)} ${unit}`.trim(), asked, isMet(bar) ? 'met' : '**missed**']
}

const markdown = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, columns.map((_, index) => (index === 0 ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')

function textOf(section: Stored): string {
  const { title, bars, tables, notes, facts } = section
  return [
    `## ${title}`,
    `Commit ${facts.commit}, ${facts.at.slice(0, 16)}Z, ${facts.cpu}, ${facts.cores} CPUs, ${facts.memoryGib} GiB, Linux ${facts.kernel}, Node ${facts.node}; load average ${facts.loadBefore} before and ${facts.loadAfter} after.`,
    ...(bars.length === 0 ? [] : [markdown(['bar', 'found', 'wanted', ''], bars.map(barRow))]),
    ...tables.flatMap(({ caption, columns, rows }) => [`### ${caption}`, markdown(columns, rows)]),
    ...notes,
  ].join('\n\n')
}

const pageOf = (sections: readonly Stored[]): string =>
  [
    '# Measurements',
    'Written by `npm run bench`; `npm run bench -- <name>` measures one section anew. `results.json` holds the same as data. Where the machine was shared with other work, trust the ratios and the CPU times, not the rates.',
    ...sections.map(textOf),
    '',
  ].join('\n\n')
