import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { hasSqlState, SQL_STATES } from './sql-states.ts'

const read = (path: string) => readFileSync(path, 'utf8')

/** The SQLSTATEs that a text of SQL raises. */
const raisedBy = (text: string) =>
  [...text.matchAll(/errcode\s*=\s*'(EG\w{3})'/g)].map(([, code]) => code ?? '')

test('SQL_STATES has each own SQLSTATE that the SQL raises, with the files that raise it', () => {
  const files = globSync('src/**/*.sql').filter((path) => !path.includes('/schema/'))
  const raised = new Set(
    files.flatMap((path) => raisedBy(read(path)).map((code) => `${code} ${path.slice(4)}`)),
  )
  const listed = Object.values(SQL_STATES).flatMap(({ code, raisedIn }) =>
    raisedIn.map((path) => `${code} ${path}`),
  )
  assert.deepEqual(listed.toSorted(), [...raised].toSorted())
  assert.deepEqual(raisedBy("raise exception 'x' using errcode = 'EG999'"), ['EG999'])
})

test('SQL_STATES has each code once, and TypeScript spells none of them', () => {
  const codes = Object.values(SQL_STATES).map(({ code }) => code)
  assert.equal(new Set(codes).size, codes.length)
  const spelled = globSync('src/**/*.ts').filter(
    (path) => !/\.test\.ts$|sql-states/.test(path) && /'EG\d{3}'/.test(read(path)),
  )
  assert.deepEqual(spelled, [])
})

test('hasSqlState() knows an error by the names of its code, and nothing else', () => {
  assert.ok(hasSqlState({ code: 'EG003' }, 'overtaken', 'recordLeftOut'))
  for (const other of [undefined, null, 'EG003', { code: 'EG004' }, new TypeError('x')])
    assert.ok(!hasSqlState(other, 'recordLeftOut'))
})
