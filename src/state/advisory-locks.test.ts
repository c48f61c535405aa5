import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ADVISORY_LOCKS } from './advisory-locks.ts'

/** Each number of the product's range in a text, and each advisory lock with a number outside the range. */
const numbersIn = (text: string): string[] => [
  ...[...text.matchAll(/\b4_?207_?7\d\d\b/g)].map(([found]) => found.replaceAll('_', '')),
  ...[...text.matchAll(/pg_(?:try_)?advisory\w*\((\d+)/g)].map(([, found]) => found ?? ''),
]

test('ADVISORY_LOCKS has each number that the sources use, once', () => {
  const numbers: string[] = Object.values(ADVISORY_LOCKS).map(String)
  assert.equal(new Set(numbers).size, numbers.length)
  const sources = globSync('src/**/*.{ts,sql}').filter((path) => !path.includes('advisory-locks'))
  const sql = sources.filter((path) => path.endsWith('.sql'))
  assert.deepEqual(
    sql.flatMap((path) =>
      numbersIn(readFileSync(path, 'utf8')).filter((n) => !numbers.includes(n)),
    ),
    [],
  )
  const spelled = sources.filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  assert.deepEqual(
    spelled.filter((path) => numbersIn(readFileSync(path, 'utf8')).length > 0),
    [],
    'TypeScript takes its numbers from ADVISORY_LOCKS',
  )
  assert.deepEqual(numbersIn('pg_advisory_lock(17); 4_207_799'), ['4207799', '17'])
})
