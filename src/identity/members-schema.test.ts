// The step that brings members to a state: accounts and tokens of before have an owner afterwards.
import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import { SCHEMAS } from '#processes/schemas.ts'
import { migrate } from '#state/migrate.ts'
import { openTestState } from '#state/test-database.fixture.ts'
import { IDENTITY_SCHEMA } from './schema.ts'

const STEPS_BEFORE = ['0001_tokens.sql', '0002_audit.sql']
const ID = '0'.repeat(26)

let server: TestUrl
const folder = mkdtempSync(join(tmpdir(), 'ergon-schema-'))
before(async () => {
  if (whyNoState() === false) server = await openTestUrl()
})
after(async () => {
  rmSync(folder, { recursive: true })
  await server?.[Symbol.asyncDispose]()
})

test(
  'an account of before has an owner, whose its tokens are',
  { skip: whyNoState() },
  async () => {
    for (const file of STEPS_BEFORE)
      copyFileSync(new URL(file, IDENTITY_SCHEMA.tables), join(folder, file))
    const tables = pathToFileURL(`${folder}/`)
    const earlier = SCHEMAS.slice(0, SCHEMAS.indexOf(IDENTITY_SCHEMA))
    const schemas = [...earlier, { area: 'identity', tables, functions: [] }]
    const { state } = await openTestState({ urlOf: server.of, schemas, connections: 2 })
    await using _state = state
    await state.query("insert into accounts (id, env) values ($1, 'test')", [`acct_${ID}`])
    await state.query(
      `insert into tokens (id, account, hash, hint, name, scope) values ('tok_1', $1, '\\x00', 'svc_', 'old', 'deploy')`,
      [`acct_${ID}`],
    )
    const { applied } = await migrate(state, SCHEMAS)
    assert.ok(applied.includes('identity/0010_members'))
    const { rows } = await state.query(
      `select m.id, m.name, m.role, m.state, m.joined_at = a.created_at as since, t.id as token
     from members m join accounts a on a.id = m.account join tokens t on t.member = m.id`,
    )
    const owner = { id: `mem_${ID}`, name: 'owner', role: 'owner', state: 'active' }
    assert.deepEqual(rows, [{ ...owner, since: true, token: 'tok_1' }])
    const { rowCount } = await state.query('select from members')
    assert.equal(rowCount, 1, 'nobody is no account')
  },
)
