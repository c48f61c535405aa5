// Resources of accounts are started and ended by the instances of its product alone: a further file that starts cells of
// accounts is red here.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const SOURCES = join(import.meta.dirname, '..')
/** The file that starts cells of accounts, and the one whose instances it gives them to. */
const STARTERS: Readonly<Record<string, string>> = {
  // A program of ours, which ends by itself: it copies or restores the files of a database.
  'databases/backups/job-cells.ts': 'databases/server/servers.ts',
  'databases/server/servers.ts': 'databases/server/servers.ts',
  'functions/local-driver.ts': 'functions/functions.ts',
  'workloads/instance-cell.ts': 'workloads/workloads.ts',
  // A program of ours, which ends by itself: it unpacks an image before there is an instance of it.
  'workloads/pull-image.ts': 'workloads/workloads.ts',
}

/** The files in which a cell that an account pays for is specified. */
const startersIn = (sources: ReadonlyMap<string, string>): string[] =>
  [...sources]
    .filter(([, text]) => /\bpayer: \{\s*kind: 'account'/.test(text))
    .map(([path]) => path)
    .toSorted()

const sources = new Map(
  globSync('**/*.ts', { cwd: SOURCES })
    .filter((path) => !/\.(test|fixture)\.ts$|\/testing\//.test(path))
    .map((path) => [path, readFileSync(join(SOURCES, path), 'utf8')]),
)

test('cells of accounts are started for the instances of their product, and nowhere else', () => {
  assert.deepEqual(startersIn(sources), Object.keys(STARTERS).toSorted())
  const made = [...sources].filter(([, text]) => /= createInstances[<(]/.test(text))
  const users = made.map(([path]) => path).filter((path) => !path.startsWith('resources/'))
  assert.deepEqual(users.toSorted(), [...new Set(Object.values(STARTERS))].toSorted())
})

test('planted fault: a further file that starts one is found', () => {
  const further = new Map([...sources, ['s3/a.ts', "payer: { kind: 'account', account }"]])
  assert.deepEqual(
    startersIn(further).filter((path) => !(path in STARTERS)),
    ['s3/a.ts'],
  )
})
