// Idempotency-Key on the API of databases: a request that is repeated makes nothing more, and is answered the same.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { makeDatabase } from './driver.ts'

product(PLAIN)

const HOME = 'repeated-home'
before(() => makeDatabase(sharedErgon(), HOME))

type Answer = { readonly status: number; readonly text: string; readonly isReplayed: boolean }

async function post(path: string, key: string, body: object): Promise<Answer> {
  const { baseUrl, token } = sharedErgon()
  const answer = await fetch(`${baseUrl}/v1/databases${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify(body),
  })
  const isReplayed = answer.headers.get('idempotency-replayed') === 'true'
  return { status: answer.status, text: await answer.text(), isReplayed }
}

const codeOf = ({ text }: Answer) => (JSON.parse(text) as { error: { code: string } }).error.code
const count = async (sql: string, ...values: readonly unknown[]) =>
  Number((await sharedErgon().sql(`select count(*) from ${sql}`, values))[0]?.['count'])

/** Things that a POST makes, another body for the same key, and the number of things that there are. */
const MADE = [
  {
    what: 'a database',
    path: '',
    body: { name: 'repeated', size: '256MB' },
    other: { name: 'repeated', size: '300MB' },
    there: () => count("resources where kind = 'database' and name = $1", 'repeated'),
  },
  {
    what: 'a role',
    path: `/${HOME}/roles`,
    body: { name: 'reporting', read_only: true },
    other: { name: 'reporting', read_only: false },
    there: () => count('database_roles where label = $1', 'reporting'),
  },
  {
    what: 'a backup',
    path: `/${HOME}/backups`,
    body: {},
    other: undefined,
    there: () => count("database_backups where kind = 'manual'"),
  },
] as const

for (const { what, path, body, other, there } of MADE)
  test(`${what} that is asked for again with its key is made once, and answered the same`, async () => {
    const key = randomUUID()
    const before = await there()
    const first = await post(path, key, body)
    assert.ok(first.status === 201 || first.status === 202, first.text)
    const again = await post(path, key, body)
    assert.deepEqual(again, { ...first, isReplayed: true })
    assert.equal((await there()) - before, 1)
    if (other === undefined) return
    const reused = await post(path, key, other)
    assert.deepEqual([reused.status, codeOf(reused)], [422, 'idempotency_key_reused'])
    assert.equal((await there()) - before, 1)
    // The planted fault: without the key it is no repetition.
    const asNew = await post(path, randomUUID(), body)
    assert.match(codeOf(asNew), /^database(_role)?_exists$/)
  })

test('one of several equal requests at once makes the database, and the others are answered as it or told to wait', async () => {
  const key = randomUUID()
  const asked = Array.from({ length: 8 }, () => post('', key, { name: 'repeated-at-once' }))
  const answers = await Promise.all(asked)
  const made = answers.filter(({ status }) => status === 201)
  assert.equal(made.filter(({ isReplayed }) => !isReplayed).length, 1)
  assert.equal(new Set(made.map(({ text }) => text)).size, 1)
  for (const answer of answers.filter(({ status }) => status !== 201))
    assert.deepEqual([answer.status, codeOf(answer)], [409, 'idempotency_in_progress'])
  assert.equal(await count('resources where name = $1', 'repeated-at-once'), 1)
})
