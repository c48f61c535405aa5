import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { after, test } from 'node:test'
import { readDurations } from './test-costs.ts'
import { planPrograms, removePrograms } from './test-programs.ts'

const recorded = readDurations()
after(removePrograms)

const orderOf = (files: readonly string[], costs = {}) =>
  planPrograms(files, { costs, random: undefined, isAlone: true }).values().toArray().flat()

test('each recorded duration is of a file that is there', () => {
  assert.deepEqual(
    Object.keys(recorded).filter((file) => !existsSync(file)),
    [],
  )
})

test('the longest file begins first: by its last run, else as recorded, else by its size', () => {
  const bySize = globSync('test/**/*.test.ts')
    .filter((file) => recorded[file] === undefined)
    .toSorted((one, other) => statSync(one).size - statSync(other).size)
  const [small = '', large = ''] = [bySize.at(0), bySize.at(-1)]
  const [long = ''] = Object.entries(recorded).toSorted(([, a], [, b]) => b - a)[0] ?? []
  assert.deepEqual(orderOf([small, large, long]), [long, large, small])
  const ran = { [small]: { ms: 3_600_000, cpuMs: 0 } }
  assert.deepEqual(orderOf([small, large, long], ran), [small, long, large])
})

test('files of equal settings share programs, none of which is expected to take long', () => {
  const plain = globSync('test/**/*.test.ts')
    .filter((file) => /^product\(PLAIN\)/m.test(readFileSync(file, 'utf8')))
    .toSorted()
    .slice(0, 8)
  const programsAt = (ms: number) => {
    const costs = Object.fromEntries(plain.map((file) => [file, { ms, cpuMs: 0 }]))
    return [...planPrograms(plain, { costs, random: undefined, isAlone: false }).values()]
  }
  assert.deepEqual(programsAt(10_000), [plain])
  assert.deepEqual(
    programsAt(60_000).map((group) => group.length),
    [2, 2, 2, 2],
  )
  assert.deepEqual(programsAt(60_000).flat().toSorted(), plain)
  assert.deepEqual(
    programsAt(600_000).map((group) => group.length),
    plain.map(() => 1),
  )
})

test('a clone without costs has small files in few programs: each of them imports the tree', () => {
  const all = ['scripts', 'src', 'portal/src'].flatMap((folder) =>
    globSync(`${folder}/**/*.test.ts`),
  )
  const programs = planPrograms(all, { costs: {}, random: undefined, isAlone: false })
  assert.ok(programs.size <= 4, `${programs.size} programs`)
})

test('small files are in two programs, and in more where those would take long', () => {
  const small = globSync('src/base/*.test.ts').toSorted().slice(0, 8)
  const programsAt = (ms: number) => {
    const costs = Object.fromEntries(small.map((file) => [file, { ms, cpuMs: 0 }]))
    const programs = planPrograms(small, { costs, random: undefined, isAlone: false })
    return programs
      .values()
      .map((group) => group.length)
      .toArray()
  }
  assert.deepEqual(programsAt(10_000), [4, 4])
  assert.deepEqual(programsAt(125_000), [2, 2, 2, 2])
})
